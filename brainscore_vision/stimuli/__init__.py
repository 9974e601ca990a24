"""What is shown: video files, Gabor filters of images, and labels of images."""
