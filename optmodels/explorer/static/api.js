// The server that this page came from; addresses are relative, so that they carry its token.

async function answered(response) {
  const document = await response.json();
  if (!response.ok) throw new Error(document.error || `The explorer answered ${response.status}.`);
  return document;
}

async function asked(path, options) {
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("The explorer does not answer: it was ended, or this machine is very busy.");
  }
  return answered(response);
}

export const get = (path) => asked(path, {});

export const post = (path, body = {}) =>
  asked(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** Listen to a job; returns a function that stops listening. */
export function listen(path, onEvent, onLost = () => {}) {
  const source = new EventSource(`api/${path}`);
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.result) source.close();
    onEvent(event);
  };
  source.onerror = () => {
    source.close();
    onLost();
  };
  return () => source.close();
}

/** Let the browser keep something that was made on this page. */
export function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
