import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createHost, loadConfig } from '@cinnabar/core';
import { createMemoryDriver, createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Configuration, definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Folder, makeFolder } from '../../support/folder.js';

const GUILD = '123456789012345678';

/** The configuration of a bot in this folder. It is not started, and so watches nothing. */
function setUp(folder: Folder, options: { readonly botName?: string } = {}) {
  const entries: { readonly level: string; readonly message: string }[] = [];
  const host = createHost({
    config: { ...loadConfig(folder.path, {}), botName: options.botName },
    driver: createMemoryDriver(),
    logFiles: false,
    onLogEntry: (entry) => void entries.push(entry),
    only: [],
  });
  const said = (level: string) => entries.filter((entry) => entry.level === level).map(({ message }) => message);
  return { configuration: host.resolve(Configuration), said };
}

/** A running bot with this configuration. */
const startBot = (folder: Folder, options: Partial<Parameters<typeof createTestHost>[0]> = {}) =>
  createTestHost({ plugins: [], configDir: join(folder.path, 'config'), ...options });

/** Waits until the operating system has reported what `change` does to the folder, and for the moment after. */
async function noticed({ clock, settled }: TestHost, change: () => void): Promise<void> {
  const before = clock.pending;
  change();
  while (clock.pending === before) await turn();
  clock.advance(100);
  await settled();
}

describe('the configuration files', () => {
  const sources = async ({ configuration }: ReturnType<typeof setUp>, guildId: string | null) =>
    (await configuration.layers(guildId)).map(({ source }) => source);

  it('apply from the widest to the narrowest; those that are not there are left out', async () => {
    using folder = makeFolder({
      'config/shared.yaml': 'a: 1',
      [`config/guilds/${GUILD}.yaml`]: 'a: 2',
      'config/bots/claude.yaml': 'a: 3',
      [`config/bots/claude-${GUILD}.yaml`]: 'a: 4',
      'config/bots/opus.yaml': 'a: 5',
    });
    const claude = setUp(folder, { botName: 'claude' });
    expect(claude.configuration.botName).to.equal('claude');
    expect(await sources(claude, GUILD)).to.deep.equal([
      'config/shared.yaml',
      `config/guilds/${GUILD}.yaml`,
      'config/bots/claude.yaml',
      `config/bots/claude-${GUILD}.yaml`,
    ]);
    expect(await sources(claude, null)).to.deep.equal(['config/shared.yaml', 'config/bots/claude.yaml']);
    expect(await sources(claude, '999999999999999999')).to.deep.equal([
      'config/shared.yaml',
      'config/bots/claude.yaml',
    ]);
    expect(await sources(setUp(folder), GUILD)).to.deep.equal(['config/shared.yaml', `config/guilds/${GUILD}.yaml`]);
    expect(await sources(setUp(folder, { botName: 'opus' }), GUILD)).to.include('config/bots/opus.yaml');
  });

  it('are none at all where there is no folder', async () => {
    using folder = makeFolder();
    expect(await sources(setUp(folder, { botName: 'claude' }), GUILD)).to.deep.equal([]);
  });

  it('are never looked for outside of their folder', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1', 'secret.yaml': 'a: 2' });
    expect(await sources(setUp(folder), '../../secret')).to.deep.equal(['config/shared.yaml']);
  });

  it('show plugins everything but what is the host’s, with lines', async () => {
    using folder = makeFolder({
      'config/shared.yaml': 'host: {logLevel: warn}\nsettings: {}\nmode: chat\nbudgets:\n  guild: 5\n',
    });
    const [layer] = await setUp(folder).configuration.layers(null);
    expect(layer?.values).to.deep.equal({ mode: 'chat', budgets: { guild: 5 } });
    expect(layer?.lineOf(['budgets', 'guild'])).to.equal(5);
  });

  it('are the same objects until they change', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration } = setUp(folder);
    const [before] = await configuration.layers(null);
    const [again] = await configuration.layers(null);
    expect(again).to.equal(before);
  });
});

describe('an edit of the configuration while the bot runs', () => {
  it('is seen at the next use, also where folders are not watched', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration } = setUp(folder);
    await configuration.layers(null);
    folder.write('config/shared.yaml', 'a: 2');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 2 });
    folder.remove('config/shared.yaml');
    expect(await configuration.layers(null)).to.deep.equal([]);
  });

  describe('in a folder that is watched', () => {
    let folder: Folder;
    let host: TestHost;
    const changes: string[] = [];
    const at = (name: string) => join(folder.path, 'config', name);
    before(async () => {
      folder = makeFolder({ 'config/shared.yaml': 'a: 1', 'config/bots/claude.yaml': 'b: 1' });
      host = await startBot(folder, { botName: 'claude' });
      host.resolve(Configuration).onChange((source) => changes.push(source));
    });
    beforeEach(() => {
      changes.length = 0;
    });
    after(async () => {
      await host[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    });

    it('is passed to listeners once, a moment after files of the folder change, however many do', async () => {
      await noticed(host, () => {
        for (let n = 0; n < 5; n++) folder.write('config/bots/claude.yaml', `b: ${n + 2}`);
        expect(changes).to.deep.equal([]);
      });
      await host.resolve(Configuration).layers(null);
      expect(changes).to.deep.equal([at('bots/claude.yaml')]);
    });

    it('is noticed in folders that were made later', async () => {
      await noticed(host, () => folder.write(`config/guilds/${GUILD}.yaml`, 'a: 2'));
      await host.resolve(Configuration).layers(GUILD);
      changes.length = 0;
      await noticed(host, () => folder.write(`config/guilds/${GUILD}.yaml`, 'a: 3'));
      await host.resolve(Configuration).layers(GUILD);
      expect(changes).to.deep.equal([at(`guilds/${GUILD}.yaml`)]);
    });

    it('that cannot be read is reported to the owner', async () => {
      await noticed(host, () => folder.write('config/shared.yaml', 'b: 1\na: "x\n'));
      await host.advance(5_000);
      const notice = await host.discord.expectMessage({ author: host.bot, content: /it is not valid YAML/ });
      expect(notice.channel.recipients).to.include(host.you);
      expect(notice.content).to.match(/config\/shared\.yaml:\d: .* The last good content stays in force\./);
    });

    it('is not looked for any more once the bot has stopped', async () => {
      await host.stop();
      const { pending } = host.clock;
      folder.write(`config/guilds/${GUILD}.yaml`, 'a: 4');
      for (let n = 0; n < 20; n++) await turn();
      expect(host.clock.pending).to.equal(pending);
      expect(changes).to.deep.equal([]);
    });
  });

  it('that cannot be read leaves the last good content in force, and is reported once with file and line', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration, said } = setUp(folder);
    await configuration.layers(null);
    folder.write('config/shared.yaml', 'b: 1\na: "x\n');
    for (let n = 0; n < 3; n++) expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 1 });
    expect(said('error')).to.have.length(1);
    expect(said('error')[0]).to.match(/config\/shared\.yaml:\d: it is not valid YAML/);

    folder.write('config/shared.yaml', 'a: 2');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 2 });
    folder.write('config/shared.yaml', 'b: 1\na: "x\n');
    await configuration.layers(null);
    expect(said('error'), 'a new mistake is told anew').to.have.length(2);
  });

  it('that puts the host’s keys where they do not belong is refused', async () => {
    using folder = makeFolder({ 'config/bots/claude.yaml': 'a: 1' });
    const { configuration, said } = setUp(folder, { botName: 'claude' });
    await configuration.layers(null);
    folder.write('config/bots/claude.yaml', 'a: 2\nhost:\n  ledger: { days: 3 }\n');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 1 });
    expect(said('error')[0]).to.include('config/bots/claude.yaml:3: host.ledger: belongs in shared.yaml');
    folder.write(`config/guilds/${GUILD}.yaml`, 'a: 2\nhost: {prefixes: ["?"]}\n');
    await configuration.layers(GUILD);
    expect(said('error')[1]).to.include(`config/guilds/${GUILD}.yaml:2: host: belongs in shared.yaml`);
  });

  it('of what is read at the start alone is answered with a note', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'host: {logLevel: info}\n' });
    const { configuration, said } = setUp(folder, { botName: 'claude' });
    await configuration.layers(null);
    folder.write('config/shared.yaml', 'host: {logLevel: debug}\n');
    folder.write('config/bots/claude.yaml', 'host: {prefixes: ["?"]}\n');
    await configuration.layers(null);
    expect([...said('warn')].sort()).to.deep.equal([
      'config/bots/claude.yaml: what is below host and settings takes effect at the next start',
      'config/shared.yaml: what is below host and settings takes effect at the next start',
    ]);
  });

  it('reaches the other listeners when one of them fails', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration, said } = setUp(folder);
    await configuration.layers(null);
    const heard: string[] = [];
    configuration.onChange(() => {
      throw new Error('no');
    });
    const stop = configuration.onChange((source) => heard.push(source));
    folder.write('config/shared.yaml', 'a: 2');
    await configuration.layers(null);
    await stop();
    folder.write('config/shared.yaml', 'a: 3');
    await configuration.layers(null);
    expect(heard).to.deep.equal(['config/shared.yaml']);
    expect(said('error')).to.have.length(2);
  });
});

describe('a key that no plugin claims', () => {
  it('is reported once at the start, with what was probably meant, and when its plugin has gone', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'mode: chat\nrecency_windw: 5\nquux: 1\n' });
    let release: () => unknown = () => undefined;
    const reader = definePlugin({
      manifest: { id: 'reader', version: '1.0.0', description: 'Reads keys' },
      inject: { configuration: Configuration },
      async setup({ services: { configuration } }) {
        release = configuration.claim(['mode', 'recencyWindow']);
        await configuration.layers(null);
      },
    });
    await using host = await startBot(folder, { plugins: [reader] });
    const shared = join(folder.path, 'config', 'shared.yaml');
    const said = () => host.log.flatMap(({ level, message }) => (level === 'warn' ? [message] : []));
    const atStart = [
      `${shared}:2: no plugin reads the key "recency_windw". Did you mean "recencyWindow"?`,
      `${shared}:3: no plugin reads the key "quux". Is its plugin loaded?`,
    ];
    expect(said()).to.deep.equal(atStart);
    await release();
    folder.write('config/shared.yaml', 'mode: chat\nmodel: x\nquux: 1\n');
    await host.resolve(Configuration).layers(null);
    expect(said().slice(atStart.length)).to.deep.equal([
      `${shared}:1: no plugin reads the key "mode". Is its plugin loaded?`,
      `${shared}:2: no plugin reads the key "model". Is its plugin loaded?`,
    ]);
  });
});
