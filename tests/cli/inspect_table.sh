# SPDX-License-Identifier: Apache-2.0
# A header, then one row per operation, all with the same number of columns.
"$BERTH" inspect --table "$SOURCE/models/resnet50.onnx" >table
head -n 4 table
wc -l <table
awk -F '\t' '{ print NF }' table | sort -u
