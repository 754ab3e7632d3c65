"""Make a RayJob of rayjob.yaml and wait for its end, as a pod of a CronJob.

It is named after the Job of this pod, one for each night: a pod that starts anew finds the RayJob
of its night and waits on. It belongs to that Job: who deletes the Job deletes the RayJob.
Exit codes: 0 it succeeded, 1 it failed or is gone, 2 it cannot be made.
"""

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

API = "https://kubernetes.default.svc"
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HERE = Path(__file__).parent


def call(api, account, path, body=None):
    """What the API server answers."""
    token = (account / "token").read_text()  # read each time: it is replaced every hour
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(api + path, body, {**headers, "Accept": "application/json"})
    trusted = ssl.create_default_context(cafile=account / "ca.crt") if api[:5] == "https" else None
    with urllib.request.urlopen(request, timeout=30, context=trusted) as answer:
        return json.load(answer)


def main(api=API, account=ACCOUNT, folder=HERE, pause_s=15.0):
    """Make it, and follow it."""
    name, uid = os.environ["JOB_NAME"], os.environ["JOB_UID"]
    rayjob = yaml.safe_load((folder / "rayjob.yaml").read_text(encoding="utf-8"))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}
    rayjob["metadata"].update(name=name, ownerReferences=[owner])
    space = (account / "namespace").read_text().strip()
    path = f"/apis/ray.io/v1/namespaces/{space}/rayjobs"
    try:
        call(api, account, path, json.dumps(rayjob).encode())
        print(f"RayJob {name} is made.", flush=True)
    except urllib.error.HTTPError as error:
        if error.code != 409:  # 409: an earlier pod of this night made it
            print(f"RayJob {name} cannot be made: {error.read().decode()}", flush=True)
            return 2
    return follow(api, account, f"{path}/{name}", pause_s)


def follow(api, account, path, pause_s):
    """Wait until a RayJob has ended, and say how."""
    said = ""
    while True:
        try:
            status = call(api, account, path).get("status", {})
        except urllib.error.HTTPError as error:
            if error.code == 404:
                print("The RayJob is gone.", flush=True)
                return 1
            status = {}
        except OSError:  # the API server is away for a moment
            status = {}
        words = [status.get(key, "") for key in ("jobDeploymentStatus", "jobStatus", "message")]
        line = " ".join(word for word in words if word)
        if line and line != said:
            print(line, flush=True)
            said = line
        if words[0] in ("Complete", "Failed"):
            return 0 if words[1] == "SUCCEEDED" else 1
        time.sleep(pause_s)


if __name__ == "__main__":
    sys.exit(main())
