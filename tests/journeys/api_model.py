"""Score a model behind an API. The server that this script starts stands for that of a provider."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

import numpy as np
from PIL import Image

import brainscore


class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        image = np.frombuffer(self.rfile.read(int(self.headers["Content-Length"])), np.uint8).reshape(16, 16, 3)
        body = json.dumps({"embedding": image.reshape(4, 4, 4, 4, 3).mean(axis=(1, 3)).ravel().tolist()}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"


# written by the user
def embeddings(images):
    features = []
    for image in images:
        small = np.asarray(Image.fromarray(image).resize((16, 16)))
        with urlopen(Request(URL, data=small.tobytes())) as response:
            features.append(json.load(response)["embedding"])
    return np.array(features)


score = brainscore.score(embeddings, "Simulated2026.V1-rdm", identifier="provider-embeddings")
print(f"{float(score):.3f}, 95 %: {score.attrs['ci'][0]:.3f}–{score.attrs['ci'][1]:.3f}")
