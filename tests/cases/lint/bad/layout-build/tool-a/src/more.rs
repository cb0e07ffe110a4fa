// new since the build
