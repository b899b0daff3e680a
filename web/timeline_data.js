// Reads what the page holds of a timeline (docs/formats/report.md) into lists that can be drawn.
'use strict';

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Seven bits a byte, lowest first. Beyond 31 bits shifts would overflow, products do not.
async function column(text) {
  const bytes = await unpack(text);
  const values = [];
  let value = 0, scale = 1;
  for (const byte of bytes) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      values.push(value);
      value = 0;
      scale = 1;
    }
  }
  return values;
}

const signed = value => value % 2 ? -(value + 1) / 2 : value / 2;

async function columns(packed, names) {
  const lists = await Promise.all(names.map(name => column(packed[name])));
  return Object.fromEntries(names.map((name, i) => [name, lists[i]]));
}

async function readJobs(data) {
  const c = await columns(data.jobs, ['index', 'training', 'profile', 'submit', 'deadline', 'finish']);
  const ids = data.jobs.ids && new TextDecoder().decode(await unpack(data.jobs.ids)).split('\n');
  let index = 0, submit = 0;
  return c.index.map((step, i) => {
    index += step;
    submit += signed(c.submit[i]);
    return {
      id: ids ? ids[i] : String(index),
      training: c.training[i] === 1,
      profile: c.profile[i] ? data.profiles[c.profile[i] - 1] : '',
      submit,
      deadline: submit + signed(c.deadline[i]),
      finish: submit + signed(c.finish[i]),
    };
  });
}

// One list for each slice, in order of time.
async function readPieces(data, jobs) {
  const c = await columns(data.pieces,
                          ['slice', 'slot', 'gap', 'length', 'stays', 'job', 'busy', 'shade']);
  const lanes = new Map();
  let slice = 0, end = 0, job = 0, named = 0, merged = 0;
  for (let i = 0; i < data.pieces.count; ++i) {
    slice += c.slice[i];
    if (!lanes.has(slice)) {
      lanes.set(slice, []);
      end = 0;
    }
    const begin = end + c.gap[i];
    end = begin + c.length[i];
    const piece = {begin, end, slot: c.slot[i], stays: c.stays[i], busy: 1, job: null, shade: 0};
    if (piece.stays === 1) {
      job += signed(c.job[named++]);
      piece.job = jobs[job];
      piece.shade = (piece.job.finish > piece.job.deadline ? 2 : 0) + (piece.job.training ? 1 : 0);
    } else {
      piece.busy = c.busy[merged] / 100;
      piece.shade = c.shade[merged++];
    }
    lanes.get(slice).push(piece);
  }
  return lanes;
}

// One list for each GPU, in order of time; `set` is null while it is down.
async function readLayouts(data) {
  const c = await columns(data.layouts, ['gpu', 'time', 'set']);
  const layouts = data.gpus.map(() => []);
  let gpu = 0, time = 0;
  for (let i = 0; i < data.layouts.count; ++i) {
    if (c.gpu[i]) time = 0;
    gpu += c.gpu[i];
    time += c.time[i];
    layouts[gpu].push({begin: time, set: c.set[i] ? data.layouts.sets[c.set[i] - 1] : null});
  }
  for (const list of layouts)
    list.forEach((layout, i) => layout.end = i + 1 < list.length ? list[i + 1].begin : data.length);
  return layouts;
}

async function readTimeline(text) {
  const data = JSON.parse(text);
  const jobs = await readJobs(data);
  return {...data, jobs, lanes: await readPieces(data, jobs), layouts: await readLayouts(data)};
}

// The first of a list in order of time that ends after `at`.
function firstAfter(list, at) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].end > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
