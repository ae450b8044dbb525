# The stream today, by the time of release, and the derivative of its stars' positions to the halo's
# flattening. gnuplot plot.gp, where the program has left stream.csv.
set terminal pngcairo size 1200,900 font "sans,16"
set output "stream.png"
set datafile separator ","
set xlabel "x, kpc"
set ylabel "z, kpc"
set cblabel "released, Myr ago"
set size ratio -1
set key bottom left
plot "stream.csv" skip 1 using 2:4:(-$1) with points pt 7 ps 0.4 palette title "stars", \
     "" skip 1 every 11 using 2:4:($5*0.02):($7*0.02) with vectors nohead lc rgb "black" \
     title "shift where q grows by 0.02"
