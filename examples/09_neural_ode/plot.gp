# gnuplot -e "folder='where the csv files are'" plot.gp   ->   neural_ode.png
if (!exists("folder")) folder = "."
set terminal pngcairo size 1200,560 fontscale 0.9
set output "neural_ode.png"
set datafile separator ","
set multiplot layout 1,2
set grid lc rgb "#dddddd"

set title "mean squared difference from the data"
set xlabel "epoch"; set ylabel "loss"
set logscale y
set format y "10^{%T}"
plot folder."/loss.csv" skip 1 using 1:2 with lines lw 2 lc rgb "#1f77b4" notitle

unset logscale y
set format y
set title "from (1.4, 0) for 12 times the length of the data"
set xlabel "u_0"; set ylabel "u_1"
set size ratio -1
set key top right
plot folder."/spiral.csv" skip 1 using 2:3 with lines lw 4 lc rgb "#bbbbbb" title "truth", \
  "" skip 1 using 4:5 with lines lw 1.5 lc rgb "#d62728" title "net"
unset multiplot
