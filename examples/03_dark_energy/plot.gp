# By what share distances answer to matter and to the slope of the field's potential, for some
# universes. gnuplot plot.gp, where the program has left dark_energy_exp.csv.
set terminal pngcairo size 1200,750 font "sans,16"
set output "dark_energy.png"
set datafile separator ","
set xlabel "redshift"
set ylabel "d ln D_M / d lambda"
set cblabel "w today"
plot "dark_energy_exp.csv" skip 1 using 1:4:5 with linespoints pt 7 ps 0.4 palette notitle
