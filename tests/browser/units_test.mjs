// The words that the dashboard has for numbers: node --test units_test.mjs. It needs neither a browser nor a controller.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {it} from 'node:test';

const source = fs.readFileSync(new URL('../../web/dashboard_units.js', import.meta.url), 'utf8');
const {duration, energy, watts} = await import('data:text/javascript,' + encodeURIComponent(source));

it('writes the power of 8, 64 and 1,000 GPUs in the unit it names', () => {
  assert.equal(watts(0), '0 W');
  assert.equal(watts(8 * 250), '2000 W');
  assert.equal(watts(9999), '10000 W');
  assert.equal(watts(10000), '10 kW');
  assert.equal(watts(64 * 250), '16 kW');
  assert.equal(watts(64 * 400), '25.6 kW');
  assert.equal(watts(1000 * 250), '250 kW');
  assert.equal(watts(1000 * 700), '700 kW');
  assert.equal(watts(2000 * 700), '1.4 MW');
});

it('writes every power so that its number and its unit give the power back', () => {
  const sizes = {W: 1, kW: 1e3, MW: 1e6};
  for (let power = 1; power < 1e9; power *= 1.7) {
    const [number, unit] = watts(power).split(' ');
    const back = Number(number) * sizes[unit];
    assert.ok(Math.abs(back - power) <= .006 * power, `${power} W is written as ${number} ${unit}`);
  }
});

it('writes every energy so that its number and its unit give the energy back', () => {
  const sizes = {Wh: 1, kWh: 1e3, MWh: 1e6, GWh: 1e9};
  for (let joules = 3600; joules < 1e15; joules *= 1.7) {
    const [number, unit] = energy(joules).split(' ');
    const back = Number(number) * sizes[unit] * 3600;
    assert.ok(Math.abs(back - joules) <= .006 * joules, `${joules} J is written as ${number} ${unit}`);
  }
  assert.equal(energy(64 * 250 * 3600), '16 kWh');
  assert.equal(energy(1000 * 250 * 24 * 3600), '6 MWh');
});

it('writes lengths of time', () => {
  assert.equal(duration(59), '59 s');
  assert.equal(duration(90), '1 min 30 s');
  assert.equal(duration(7200), '2 h');
  assert.equal(duration(36 * 3600), '1.5 days');
});
