import { join } from 'node:path';
import { createConfiguration, type WatchFolder } from '@cinnabar/core/internal/config/configuration';
import type { Clock } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { type Folder, makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';

const GUILD = '123456789012345678';

/** A configuration of a folder whose change notifications are sent by the test. */
function setUp(
  folder: Folder,
  options: { readonly botName?: string; readonly clock?: Clock; readonly watch?: WatchFolder } = {},
) {
  const clock = createManualClock();
  const log = recordingLogger();
  const watched = new Map<string, () => void>();
  const problems: string[] = [];
  const configuration = createConfiguration({
    dir: join(folder.path, 'config'),
    root: folder.path,
    botName: options.botName,
    clock: options.clock ?? clock,
    log,
    onProblem: (sentence) => problems.push(sentence),
    watch:
      options.watch ??
      ((path, onChange) => {
        watched.set(path, onChange);
        return () => void watched.delete(path);
      }),
  });
  const said = (level: string) => log.entries.filter((entry) => entry.level === level).map(({ message }) => message);
  return { configuration, clock, watched, problems, said };
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
    const bench = setUp(folder, { botName: 'claude' });
    await bench.configuration.start();
    expect(await sources(bench, GUILD)).to.deep.equal([]);
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
  it('is seen at the next use, also where folders cannot be watched', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration } = setUp(folder, { watch: () => undefined });
    await configuration.start();
    folder.write('config/shared.yaml', 'a: 2');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 2 });
    folder.remove('config/shared.yaml');
    expect(await configuration.layers(null)).to.deep.equal([]);
  });

  it('is passed to listeners once, a moment after files of the folder change, however many do', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1', 'config/bots/claude.yaml': 'b: 1' });
    const { configuration, clock, watched } = setUp(folder, { botName: 'claude' });
    await configuration.start();
    const changes: string[] = [];
    const told = new Promise<void>((resolve) => {
      configuration.onChange((source) => {
        changes.push(source);
        resolve();
      });
    });
    folder.write('config/bots/claude.yaml', 'b: 2');
    for (let n = 0; n < 5; n++) watched.get(join(folder.path, 'config', 'bots'))?.();
    expect(changes).to.deep.equal([]);
    clock.advance(100);
    await told;
    await configuration.layers(null);
    expect(changes).to.deep.equal(['config/bots/claude.yaml']);
    configuration.stop();
  });

  it('is noticed by the operating system’s own notices', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    let armed: (() => void) | undefined;
    const stirred = new Promise<void>((resolve) => {
      armed = resolve;
    });
    const manual = createManualClock();
    const clock: Clock = {
      now: manual.now,
      after(delayMs, task) {
        const cancel = manual.after(delayMs, task);
        armed?.();
        return cancel;
      },
    };
    const { watchFolder } = await import('@cinnabar/core/internal/config/configuration');
    const { configuration } = setUp(folder, { clock, watch: watchFolder });
    await configuration.start();
    const told = new Promise<string>((resolve) => {
      configuration.onChange(resolve);
    });
    folder.write('config/shared.yaml', 'a: 2');
    await stirred;
    manual.advance(100);
    expect(await told).to.equal('config/shared.yaml');
    configuration.stop();
  });

  it('is noticed in folders that were made later', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration, clock, watched } = setUp(folder);
    await configuration.start();
    expect([...watched.keys()]).to.deep.equal([join(folder.path, 'config')]);
    const told = new Promise<string>((resolve) => {
      configuration.onChange(resolve);
    });
    folder.write(`config/guilds/${GUILD}.yaml`, 'a: 2');
    await configuration.layers(GUILD);
    folder.write(`config/guilds/${GUILD}.yaml`, 'a: 3');
    watched.get(join(folder.path, 'config'))?.();
    clock.advance(100);
    expect(await told).to.equal(`config/guilds/${GUILD}.yaml`);
    expect([...watched.keys()]).to.include(join(folder.path, 'config', 'guilds'));
    configuration.stop();
    expect(watched.size).to.equal(0);
    expect(clock.pending).to.equal(0);
  });

  it('that cannot be read leaves the last good content in force, and is reported once with file and line', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'a: 1' });
    const { configuration, problems, said } = setUp(folder);
    await configuration.layers(null);
    folder.write('config/shared.yaml', 'b: 1\na: "x\n');
    for (let n = 0; n < 3; n++) expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 1 });
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/config\/shared\.yaml:\d: it is not valid YAML/);
    expect(said('error')).to.have.length(1);

    folder.write('config/shared.yaml', 'a: 2');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 2 });
    folder.write('config/shared.yaml', 'b: 1\na: "x\n');
    await configuration.layers(null);
    expect(problems, 'a new mistake is told anew').to.have.length(2);
  });

  it('that puts the host’s keys where they do not belong is refused', async () => {
    using folder = makeFolder({ 'config/bots/claude.yaml': 'a: 1' });
    const { configuration, problems } = setUp(folder, { botName: 'claude' });
    await configuration.layers(null);
    folder.write('config/bots/claude.yaml', 'a: 2\nhost:\n  ledger: { days: 3 }\n');
    expect((await configuration.layers(null))[0]?.values).to.deep.equal({ a: 1 });
    expect(problems[0]).to.include('config/bots/claude.yaml:3: host.ledger: belongs in shared.yaml');
    folder.write(`config/guilds/${GUILD}.yaml`, 'a: 2\nhost: {prefixes: ["?"]}\n');
    await configuration.layers(GUILD);
    expect(problems[1]).to.include(`config/guilds/${GUILD}.yaml:2: host: belongs in shared.yaml`);
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
  it('is reported once at the start, with what was probably meant', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'mode: chat\nrecency_windw: 5\nquux: 1\n' });
    const { configuration, said } = setUp(folder);
    configuration.claim(['mode', 'recencyWindow']);
    await configuration.layers(null);
    expect(said('warn')).to.deep.equal([]);
    await configuration.start();
    await configuration.start();
    expect(said('warn')).to.deep.equal([
      'config/shared.yaml:2: no plugin reads the key "recency_windw". Did you mean "recencyWindow"?',
      'config/shared.yaml:3: no plugin reads the key "quux". Is its plugin loaded?',
    ]);
    configuration.stop();
  });

  it('is reported when it appears in an edit, and when its plugin has gone', async () => {
    using folder = makeFolder({ 'config/shared.yaml': 'mode: chat\n' });
    const { configuration, said } = setUp(folder);
    const release = configuration.claim(['mode']);
    await configuration.start();
    expect(said('warn')).to.deep.equal([]);
    await release();
    folder.write('config/shared.yaml', 'mode: chat\nmodel: x\n');
    await configuration.layers(null);
    expect(said('warn')).to.deep.equal([
      'config/shared.yaml:1: no plugin reads the key "mode". Is its plugin loaded?',
      'config/shared.yaml:2: no plugin reads the key "model". Is its plugin loaded?',
    ]);
    configuration.stop();
  });
});
