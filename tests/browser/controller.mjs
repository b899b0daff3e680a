// A live controller of its own for a test: its state in a temporary folder, on a free port, gone with its fleet at the end.
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {sizes} from './browser.mjs';

export class Controller {
  constructor(program, ...options) {
    this.program = program;
    this.options = options;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'smartmig-dashboard-'));
    this.state = path.join(this.folder, 'state');
    this.port = 0;
  }

  static async start(program, ...options) {
    const controller = new Controller(program, ...options);
    await controller.begin();
    return controller;
  }

  // Again after `end`, it is on the same port, and with the same fleet where that was to continue.
  async begin({fleetRunsOn = false} = {}) {
    const options = [...this.options, ...(fleetRunsOn ? [] : ['--stop-fleet'])];
    const child = spawn(this.program, ['serve', '--state', this.state, '--listen', `127.0.0.1:${this.port}`, ...options],
                        {stdio: ['ignore', 'pipe', 'pipe']});
    this.child = child;
    this.fleetRunsOn = fleetRunsOn;
    this.ended = new Promise(resolve => child.once('exit', resolve));
    let printed = '';
    this.url = await new Promise((resolve, reject) => {
      const look = chunk => {
        printed += chunk;
        const found = /on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed);
        if (found) resolve(found[1] + '/');
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      child.once('exit', code => reject(new Error(`serve ended with ${code}: ${printed}`)));
    });
    this.port = Number(new URL(this.url).port);
  }

  async end() {
    this.child.kill('SIGTERM');
    await this.ended;
  }

  // A fleet that was to continue is stopped too.
  async stop() {
    if (this.fleetRunsOn) {
      await this.end();
      await this.begin();
    }
    await this.end();
    fs.rmSync(this.folder, {recursive: true, force: true});
  }

  async post(what, body = {}) {
    const response = await fetch(this.url + 'api/v1/' + what, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
    if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  // What hardware may do by itself, and faults: docs/operations/simulated-fleet.md.
  tellFleet(request) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(path.join(this.state, 'fleet', 'fleet.sock'));
      socket.once('error', reject);
      socket.once('data', data => {
        socket.end();
        const answer = JSON.parse(data);
        if (answer.error) reject(new Error(String(data)));
        else resolve(answer);
      });
      socket.write(JSON.stringify({id: 1, ...request}) + '\n');
    });
  }
}

// Opens the dashboard. Whatever is wrong, or is asked of anybody but its server, is a problem.
export async function openDashboard(browser, url, options = {}) {
  const context = await browser.newContext({viewport: sizes.desktop, ...options});
  // All is on this machine.
  context.setDefaultTimeout(30000);
  const page = await context.newPage();
  const problems = [], asked = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', error => problems.push(String(error)));
  page.on('request', request => {
    if (request.url().startsWith(url)) asked.push(request.url().slice(url.length));
    else problems.push('asks for ' + request.url());
  });
  await page.goto(url);
  return {page, problems, asked, context, close: () => context.close()};
}
