// The HTTP interface of the controller, as /openapi.json describes it.
import {say} from './dashboard_page.js';

// The server said no. `status` is 0 where it did not answer at all.
export class Refused extends Error {
  constructor(status, message, field = '') {
    super(message);
    this.status = status;
    this.field = field;
  }
}

let signedIn = 0;  // How often.

async function ask(method, path, body, headers = {}) {
  const asked = signedIn;
  const options = {method, headers, credentials: 'same-origin', cache: 'no-store'};
  if (body !== undefined) {
    options.headers = {...headers, 'Content-Type': 'application/json'};
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, 'The controller does not answer.');
  }
  const answer = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (response.ok) return answer;
  // A session that ended shows the form again, whoever notices first. What was asked in one before this one says nothing of it.
  if (response.status === 401 && asked === signedIn) document.dispatchEvent(new Event('signedout'));
  throw new Refused(response.status, answer.error ?? `status ${response.status}`, answer.field);
}

const base = 'api/v1/';
const query = parameters => {
  const given = Object.entries(parameters).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return given.length ? '?' + new URLSearchParams(given) : '';
};

export const get = (path, parameters = {}) => ask('GET', base + path + query(parameters));
export const post = (path, body = {}, parameters = {}) => ask('POST', base + path + query(parameters), body);
export const remove = path => ask('DELETE', base + path);

export const session = {
  show: () => ask('GET', 'session'),
  open: async token => {
    const answer = await ask('POST', 'session', {}, {Authorization: 'Bearer ' + token});
    ++signedIn;
    return answer;
  },
  close: () => ask('DELETE', 'session'),
};

// Does something and says how it went; answers whether it went well.
export async function act(doing) {
  try {
    const {lines = []} = await doing();
    say(lines.join('; '));
    return true;
  } catch (refusal) {
    if (refusal.status !== 401) say(refusal.message, true);
    return false;
  }
}
