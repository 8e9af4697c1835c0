# SPDX-License-Identifier: Apache-2.0
# One line that names the file and the place, and exit code 3.
try() {
    code=0
    "$BERTH" inspect "$@" || code=$?
    test $code = 3
}
try missing.onnx
mkdir folder
try folder
: >empty.onnx
try empty.onnx
try - </dev/null
printf '<!DOCTYPE html>\n<html><body>Not found</body></html>\n' >page.onnx
try page.onnx
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 102550432\n' >pointer.onnx
try pointer.onnx
printf '<net name="x" version="11"><layers><layer id="0"' >cut.xml
try cut.xml
gzip -c cut.xml | head -c 20 >cut.xml.gz
try cut.xml.gz
printf '{"not": "a workload"}' >other.json
try other.json
