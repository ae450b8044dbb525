# The angle between the first spin and the orbit, along the way. gnuplot plot.gp, where the program
# has left binaries.csv.
set terminal pngcairo size 1200,750 font "sans,16"
set output "binaries.png"
set datafile separator ","
set key right center
set xlabel "orbital velocity v / c"
set ylabel "angle of the larger hole's spin to the orbit"
plot for [i=0:2] "binaries.csv" index i using 1:2 with lines lw 2 title sprintf("binary %d", i)
