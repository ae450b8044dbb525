# The angle between the first spin and the orbit, along the way. gnuplot plot.gp, where the program
# has left binaries.csv.
set terminal svg size 800,500 font "sans,14" background "white"
set output "binaries.svg"
set datafile separator ","
set xlabel "orbital velocity v / c"
set ylabel "angle of the larger hole's spin to the orbit"
plot for [i=0:2] "binaries.csv" index i using 1:2 with lines lw 2 title sprintf("binary %d", i)
