// Uploads with progress, several files at once, and the state of the checks. The page also works without this script.

const said = document.getElementById("said");

function say(text, wrong = false) {
  said.textContent = text;
  said.classList.toggle("wrong", wrong);
}

function post(url, body, { headers = {}, progress = null } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (progress) {
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) progress.value = event.loaded / event.total;
      });
    }
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* the storage responds with XML, or without content */ }
      if (request.status >= 200 && request.status < 300) resolve(answer);
      else reject(new Error(answer.message ? `${answer.message} → ${answer.remedy}` : `the server responded with status ${request.status}`));
    });
    request.addEventListener("error", () => reject(new Error("the connection was interrupted; send the file again")));
    request.send(body);
  });
}

const wanted = { Accept: "application/json" };

async function send(form, file) {
  const { kind, limit, grant, arrived } = form.dataset;
  if (!file.name.toLowerCase().endsWith(`.${kind}`)) throw new Error(`${file.name} does not end in .${kind}`);
  if (file.size > Number(limit)) throw new Error(`${file.name} is larger than ${Math.floor(limit / 1e6)} MB`);
  const bar = form.querySelector("progress");
  bar.hidden = false;
  say(`Uploading ${file.name}`);
  const token = form.elements.csrfmiddlewaretoken.value;
  if (grant) {
    const request = new URLSearchParams({ csrfmiddlewaretoken: token, name: file.name, size: file.size });
    const given = await post(grant, request, { headers: wanted });
    if (given.direct) {
      const body = new FormData();
      for (const [name, value] of Object.entries(given.fields)) body.append(name, value);
      body.append("file", file);
      await post(given.url, body, { progress: bar });
      const report = new URLSearchParams({ csrfmiddlewaretoken: token, sha1: form.elements.sha1.value });
      await post(arrived, report, { headers: wanted });
      return;
    }
  }
  const body = new FormData();
  body.append("csrfmiddlewaretoken", token);
  body.append("sha1", form.elements.sha1.value);
  body.append("file", file);
  await post(form.action, body, { headers: wanted, progress: bar });
}

const slots = [...document.querySelectorAll("form.slot")];

async function busy(work) {
  const buttons = document.querySelectorAll("main button");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await work();
  } catch (error) {
    say(error.message, true);
    buttons.forEach((button) => { button.disabled = false; });
    return;
  }
  location.reload();
}

for (const form of slots) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(() => send(form, form.elements.file.files[0]));
  });
}

const together = document.getElementById("together");
if (together) {
  together.hidden = false;
  together.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(async () => {
      const files = [...together.querySelector("input").files];
      if (!files.length) throw new Error("choose the files first");
      const chosen = files.map((file) => [slots.find((form) => file.name.toLowerCase().endsWith(`.${form.dataset.kind}`)), file]);
      for (const [form, file] of chosen) if (!form) throw new Error(`${file.name} does not end in .csv, .zip or .nc`);
      if (new Set(chosen.map(([form]) => form)).size < files.length) throw new Error("choose one file of each kind");
      for (const [form, file] of chosen) await send(form, file);
      say("Checking");
      const check = document.getElementById("check");
      await post(check.action, new URLSearchParams(new FormData(check)), { headers: wanted });
    });
  });
}

const state = document.getElementById("state");
if (state && state.dataset.poll) {
  let pause = 1000;
  const ask = async () => {
    try {
      const answer = await fetch(state.dataset.poll, { headers: wanted });
      if (answer.ok) {
        const now = await answer.json();
        if (now.state !== state.dataset.state) { location.reload(); return; }
      }
    } catch { /* tried again */ }
    pause = Math.min(pause * 1.3, 15000);
    setTimeout(ask, pause);
  };
  setTimeout(ask, pause);
}

const copy = document.getElementById("copy");
if (copy) {
  const code = document.getElementById("code");
  const copied = document.getElementById("copied");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      copied.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(code);
      copied.textContent = "Selected: copy it with your keyboard.";
    }
  });
}
