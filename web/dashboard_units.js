// Words for numbers and lengths of time. Nothing here needs a page, so that a test can call it without a browser.

const digits = (value, count) => Number(value.toPrecision(count));

// Each unit: the least value that is written in it, its size, its name; the largest unit first.
const scaled = (value, units) => {
  const [, size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? units.at(-1);
  return `${digits(value / size, 3)} ${unit}`;
};
const wattUnits = [[1e6, 1e6, 'MW'], [1e4, 1e3, 'kW'], [0, 1, 'W']];
const wattHourUnits = [[1e9, 1e9, 'GWh'], [1e6, 1e6, 'MWh'], [1e3, 1e3, 'kWh'], [0, 1, 'Wh']];

export const count = value => value.toLocaleString('en');
export const watts = value => scaled(value, wattUnits);
export const energy = joules => scaled(joules / 3600, wattHourUnits);
export const counted = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;

export function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 && s < 600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.round(s / 60)} min`;
  const minutes = Math.round(s / 60);
  if (minutes < 1440) return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
  return `${digits(minutes / 1440, 3)} days`;
}
