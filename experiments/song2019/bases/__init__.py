"""Which base models the paper's own uncalibrated numbers tell of, where its text leaves them open.

The text says of the net: two layers of 128 units, ReLU, dropout 0.5, weight decay 1e-4, length scale 1, mean and
variance by Gal and Ghahramani; of the Gaussian process: at most 1 000 rows. It does not say whether inputs and targets
are standardised, how the net is trained, or which kernel there is. The first author's later code
(github.com/Srceh/DistCal, utils.py and exp.py; we read it, none of it is here) does: inputs and targets as they are; a
net trained by Adadelta with Keras's default rate, mean squared error, batches of half the rows, until the training loss
has not fallen for 256 epochs, 128 passes; a Gaussian process with an RBF kernel of one length, noise, no standardising
and 32 restarts. It leaves open Adadelta's rate, 1 in the Keras of the paper's time and 0.001 in TensorFlow 2, for which
the code was rewritten; and in it the N of the noise 2 N λ / ℓ² (1 - p) is the number of rows that are forecast, where
Gal and Ghahramani have the rows that were learned from.

The rule, written before any calibrated number of these bases was computed, but for those of the base that table 1 had.
A setting is one and the same for all sets. It is chosen for the net, and for the Gaussian process, among these:

- net: inputs raw or standardised; Adadelta at rate 1 or at 0.001 as above, or Adam at 0.001 with batches of 64, for 40
  or 400 epochs, or with early stopping on a tenth of the rows and 200 epochs at most, which is what table 1 had; N of
  the rows learned from, or of the rows forecast. Targets are as they are in all of them.
- Gaussian process: inputs raw or standardised; an RBF kernel of one length with targets standardised and one start,
  which is what table 1 had, one length for each input with the same, or that of the code.

by the uncalibrated NLL alone: the setting with the smallest mean over the sets of |ln(NLL / printed NLL)|, where NLL is
the median of splits 10, 11 and 12, none of which is in table 1, and counts as 0.01 at least. The same distance of the
MSE is told beside it and decides nothing; what a calibrator gains is not computed. A setting that cannot be trained
(numbers that are not finite) is not chosen. Nets learn from at most 4 000 rows, as in table 1; the
kernel of the code is climbed from the best three of 16 starts, 15 of them lengths from 0.001 to 10 000, and not from
all of 33 that are drawn, for time.
"""
