# what is honest beside: it declares an encoding in which a comment is code
# coding: utf-8
True
