import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, LogReader, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../web/browser.js';

const SECRET = 'sk-ant-REDACTED-BY-THE-LOG-0123456789abcdef';

/** A plugin whose command logs an entry at each of three levels. */
const diary = definePlugin({
  manifest: { id: 'diary', version: '1.0.0', description: 'Logs', intents: ['GuildMessages', 'MessageContent'] },
  setup({ command, log }) {
    command({
      name: 'note',
      description: 'Logs',
      run: async (ctx) => {
        log.info('all is well', { guildId: ctx.actor.guildId });
        log.warn('the ink runs low', { key: SECRET });
        log.error('the pen broke', { error: new Error('snapped') });
        await ctx.reply('noted');
      },
    });
  },
});

const start = () =>
  createTestHost({
    plugins: ['admin', 'web', diary],
    env: { CINNABAR_WEB: '0' },
    logFiles: true,
    printErrors: false,
  });

const pageSchema = z.object({
  view: z.object({
    blocks: z.array(z.looseObject({ steps: z.array(z.looseObject({ title: z.string() })).default([]) })),
  }),
});

/** The entries on the page, or the status of an error response. */
async function entriesOf(query: string, browser: ReturnType<typeof openBrowser>) {
  const { status, body } = await browser.get(`/api/pages/admin/log?${query}`);
  return status === 200 ? pageSchema.parse(body).view.blocks.flatMap(({ steps }) => steps) : status;
}

/** A log line is written to its file with a delay. */
async function written(host: TestHost): Promise<void> {
  for (;;) {
    const { entries } = await host.resolve(LogReader).find({ text: 'the pen broke', limit: 1 });
    if (entries.length > 0) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('admin: the log in the dashboard', () => {
  it('shows the newest first, narrowed by level, plugin and words, without secrets', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    host.alice.say(host.general, '!note');
    await host.settled();
    await written(host);
    const titles = async (query: string) => {
      const entries = await entriesOf(query, browser);
      return typeof entries === 'number' ? [] : entries.map(({ title }) => title);
    };
    expect(await titles('component=diary')).to.deep.equal([
      'diary: the pen broke',
      'diary: the ink runs low',
      'diary: all is well',
      'diary: diary 1.0.0 started',
    ]);
    expect(await titles('component=diary&level=warn')).to.deep.equal([
      'diary: the pen broke',
      'diary: the ink runs low',
    ]);
    expect(await titles('component=diary&text=INK')).to.deep.equal(['diary: the ink runs low']);
    expect(await titles(`component=diary&server=${host.guild.id}`)).to.deep.equal(['diary: all is well']);
    expect(await titles('component=nobody')).to.deep.equal([]);
    const all = JSON.stringify(await entriesOf('', browser));
    expect(all).to.include('snapped').and.not.to.include(SECRET);
  });

  it('is for the owner of the bot alone', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    expect(await entriesOf('', browser)).to.equal(401);
    await browser.signIn(host.alice.id);
    expect(await entriesOf('', browser)).to.be.oneOf([403, 404]);
  });
});

describe('the reader of the log', () => {
  it('goes back over many entries, a page at a time, and misses and repeats none', async () => {
    await using host = await start();
    host.alice.say(host.general, '!note');
    await host.settled();
    await written(host);
    const reader = host.resolve(LogReader);
    const { entries: all } = await reader.find({ limit: 10_000 });
    const found: string[] = [];
    for (let limit = 1; limit <= all.length; limit += 1) {
      const { entries, end } = await reader.find({ limit });
      expect(end).to.equal(limit === all.length ? 'all' : 'more');
      found.push(JSON.stringify(entries) === JSON.stringify(all.slice(0, limit)) ? 'same' : `other at ${limit}`);
    }
    expect(new Set(found)).to.deep.equal(new Set(['same']));
  });

  it('gets new log entries until it is closed', async () => {
    await using host = await start();
    const heard: string[] = [];
    const end = host.resolve(LogReader).watch(({ component, level }) => heard.push(`${component} ${level}`));
    host.alice.say(host.general, '!note');
    await host.settled();
    end();
    const before = heard.length;
    expect(heard).to.include.members(['diary info', 'diary warn', 'diary error']);
    host.alice.say(host.general, '!note');
    await host.settled();
    expect(heard.length).to.equal(before);
  });
});
