import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from './browser.js';

let bloom: () => void = () => undefined;
let watching = 0;

const garden = definePlugin({
  manifest: { id: 'garden', version: '1.0.0', description: 'Grows' },
  setup({ command, page }) {
    command({
      name: 'water',
      description: 'Water it',
      access: { tier: 'everyone', where: 'guild' },
      run: (ctx) => ctx.reply('💧'),
    });
    page({
      name: 'beds',
      title: 'Beds',
      about: 'guild',
      group: 'server',
      access: { command: 'water' },
      view: () => ({ blocks: [] }),
      watch(_, changed) {
        watching += 1;
        bloom = changed;
        return () => {
          watching -= 1;
        };
      },
    });
  },
});

const start = () =>
  createTestHost({ plugins: ['admin', 'web', garden], env: { CINNABAR_WEB: '0' }, printErrors: false });

type Browser = ReturnType<typeof openBrowser>;

/** The event stream of a page, chunk by chunk. */
async function watch(host: TestHost, { url, cookie }: Browser) {
  const leave = new AbortController();
  const path = `/api/events?guild=${host.guild.id}&page=garden/beds`;
  const response = await fetch(new URL(path, url), { headers: { cookie }, signal: leave.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    /** The next chunk; `undefined` at the end. */
    next: async () => (await reader?.read())?.value,
    leave: () => leave.abort(),
  };
}

async function visit(host: TestHost): Promise<Browser> {
  const browser = openBrowser(host);
  await browser.signIn(host.alice.id);
  return browser;
}

describe('web: a page that a browser watches', () => {
  beforeEach(() => {
    watching = 0;
  });

  it('says at most once a second that it has changed, and that it is there in between', async () => {
    await using host = await start();
    const stream = await watch(host, await visit(host));
    expect(stream.type).to.equal('text/event-stream');
    expect(await stream.next()).to.equal(':\n\n');
    bloom();
    bloom();
    await host.advance(1_000);
    expect(await stream.next()).to.equal('event: changed\ndata: \n\n');
    await host.advance(20_000);
    expect(await stream.next()).to.equal(':\n\n');
  });

  it('is gone as soon as it is no longer theirs', async () => {
    await using host = await start();
    const stream = await watch(host, await visit(host));
    await stream.next();
    host.you.say(host.general, `!access deny water <@${host.alice.id}>`);
    await host.settled();
    bloom();
    await host.advance(1_000);
    expect(await stream.next()).to.equal('event: gone\ndata: \n\n');
    expect(await stream.next()).to.equal(undefined);
    expect(watching).to.equal(0);
  });

  it('is gone when the person signs out, in whatever window', async () => {
    await using host = await start();
    const browser = await visit(host);
    const stream = await watch(host, browser);
    await stream.next();
    await browser.act('/auth/sign-out', {});
    await host.advance(20_000);
    expect(await stream.next()).to.equal('event: gone\ndata: \n\n');
    expect(watching).to.equal(0);
  });

  it('has no watcher after the browser has disconnected, and a limited number for one person', async () => {
    await using host = await start();
    const browser = await visit(host);
    const streams = [];
    for (let one = 0; one < 20; one += 1) streams.push(await watch(host, browser));
    expect(watching).to.equal(20);
    expect((await watch(host, browser)).status).to.equal(429);
    for (const { leave } of streams) leave();
    while (watching > 0) await new Promise(setImmediate);
    expect((await watch(host, browser)).status).to.equal(200);
  });
});
