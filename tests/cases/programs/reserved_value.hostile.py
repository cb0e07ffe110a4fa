# it sets the value that crosses
vespe__value = "x"
