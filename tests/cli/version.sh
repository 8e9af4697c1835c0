"$BERTH" --version
