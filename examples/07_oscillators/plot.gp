# gnuplot -e "folder='where the csv files are'" plot.gp   ->   oscillators.png
if (!exists("folder")) folder = "."
set terminal pngcairo size 1200,900 fontscale 0.9
set output "oscillators.png"
set datafile separator ","
set multiplot layout 2,2
set grid lc rgb "#dddddd"

set title "Duffing, B = 0.3: position at the end of each period"
set xlabel "damping k"; set ylabel "x"
set xrange [0.2:0.3]
plot folder."/poincare.csv" skip 1 using 1:2 with dots lc rgb "#222222" notitle

set logscale x
set xtics (20, 50, 100, 200, 500, 1000)
set xrange [20:1000]
set key top right title "amplitude / bar"
set xlabel "drive frequency / kHz"
set title "bubble of 10 {/Symbol m}m in water: largest radius in two cycles"
set ylabel "R_{max} / R_0"
amplitudes = "0.3 0.6 0.9 1.2"
plot for [a in amplitudes] folder."/response.csv" skip 1 using ($1 == real(a) ? $2 : NaN):3 \
  with lines lw 2 title a

unset key
set title "its derivative to the logarithm of the frequency"
set ylabel "dR_{max} / d ln f"
plot for [a in amplitudes] folder."/response.csv" skip 1 using ($1 == real(a) ? $2 : NaN):4 \
  with lines lw 2

set title "its derivative to the logarithm of the amplitude"
set ylabel "dR_{max} / d ln P_A"
plot for [a in amplitudes] folder."/response.csv" skip 1 using ($1 == real(a) ? $2 : NaN):5 \
  with lines lw 2
unset multiplot
