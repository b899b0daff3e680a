// The form that submits a job.
import {post} from './dashboard_api.js';
import {byId, say} from './dashboard_page.js';

const numbers = ['work_s', 'deadline_s', 'memory_mib'];

function requestOf(form) {
  const given = [...new FormData(form)].filter(([, value]) => value.trim() !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value.trim()]));
}

// changed: called when a job was taken.
export function setUpSubmit(changed) {
  const form = byId('submit'), refusal = byId('submit-refusal');
  form.onsubmit = async event => {
    event.preventDefault();
    refusal.textContent = '';
    try {
      const {id} = await post('jobs', requestOf(form));
      say(`Job ${id} is taken.`);
      changed();
    } catch (problem) {
      refusal.textContent = problem.message;
      form.elements[problem.field]?.focus();
    }
  };
}
