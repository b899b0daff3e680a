// The form that trades a token for a session's cookie.
import {session} from './dashboard_api.js';
import {byId} from './dashboard_page.js';

// entered: called with the session. The token leaves the page with the request and is kept nowhere.
export function setUpSignIn(entered) {
  const form = byId('sign-in'), field = byId('token'), refusal = byId('sign-in-refusal');
  form.onsubmit = async event => {
    event.preventDefault();
    refusal.textContent = '';
    const token = field.value.trim();
    field.value = '';
    try {
      entered(await session.open(token));
    } catch (problem) {
      refusal.textContent = problem.status === 401 ? 'This token is not one of this controller.' : problem.message;
      field.focus();
    }
  };
}

export function showSignIn(yes) {
  byId('sign-in').hidden = !yes;
  byId('board').hidden = yes;
  if (yes) byId('token').focus();
}
