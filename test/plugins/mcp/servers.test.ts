import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { TestHost } from '@cinnabar/core/testing';
import { RESULT_CHARACTERS, type ToolProgress, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, CHILD, call, openMcpHarness, textOf } from './harness.js';

/** A reference to an environment variable in settings. */
const reference = (name: string) => ['$', '{', name, '}'].join('');

/** A queue of values that are awaited in order. */
function createMailbox<T>() {
  const letters: T[] = [];
  let wake: () => void = () => undefined;
  return {
    push(letter: T) {
      letters.push(letter);
      wake();
    },
    async next(): Promise<T> {
      for (;;) {
        const [letter] = letters.splice(0, 1);
        if (letter !== undefined) return letter;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** A file of Linux about a process; empty when the process has ended. */
function processFile(pid: number, name: 'stat' | 'environ' | 'cgroup'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

const markOf = (pid: number) => /(?:^|\0)CINNABAR_MCP_PROCESS=([^\0]*)/.exec(processFile(pid, 'environ'))?.[1];

/** The program of the server that this process has started, with the mark that it passes on to its children. */
function startedServer(): { readonly pid: number; readonly mark: string } {
  for (const pid of readdirSync('/proc').map(Number)) {
    const stat = processFile(pid, 'stat');
    // "123 (a name) S 1 …": the parent comes after the state.
    const isOwn = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === `${process.pid}`;
    const mark = isOwn ? markOf(pid) : undefined;
    if (mark !== undefined) return { pid, mark };
  }
  throw new Error('no server is running');
}

describe('an MCP server over stdio', function () {
  this.timeout(60_000);
  let host: TestHost;
  before(async () => {
    host = await openMcpHarness({ child: { ...CHILD, timeoutMs: 10_000 } });
  });
  after(() => host[Symbol.asyncDispose]());

  it('brings its tools under its own name, with the risk that it declares', async () => {
    const tools = new Map(
      host
        .resolve(Tools)
        .list()
        .map(({ name, risk }) => [name, risk]),
    );
    expect(tools.get('child_crash')).to.equal('write');
    expect(tools.get('child_cancelled')).to.equal('read');
    expect(tools.get('child_fail')).to.equal('destructive');
    expect(tools.get('child_weird_name_with_signs')).to.equal('write');
  });

  it('hands on an error in its own words', async () => {
    const outcome = await call(host, 'child_fail');
    expect(outcome).to.have.property('status', 'failed');
    expect(textOf(outcome)).to.equal('The disk is full.');
  });

  it('has a long text cut, and says so', async () => {
    const text = textOf(await call(host, 'child_big'));
    expect(text.length).to.be.at.most(RESULT_CHARACTERS);
    expect(text).to.match(/… \(cut: only the beginning of \d+ characters is shown/);
  });

  it('has its schemas checked beside the main thread, for as long as that may take', async () => {
    expect(textOf(await call(host, 'child_mismatch'))).to.equal(
      'The MCP server "child" has run this, but its answer does not have the form that it declares: text must match pattern "^(a+)+$"',
    );
    expect(textOf(await call(host, 'child_unending'))).to.match(
      /has run this.*could not be checked: Processing this took longer than 1 s/,
    );
    expect(textOf(await call(host, 'child_endless', { a: 1 }))).to.match(
      /^The arguments for child_endless are not right: input: they could not be checked against the server's schema\. Processing this took longer than 1 s/,
    );
  });

  it('may change its tools while it runs', async () => {
    await call(host, 'child_grow');
    expect(await ask(host, '!mcp tools child')).to.contain('not offered, changed or new: `grown`: New.');
    await ask(host, '!mcp accept child');
    expect(await ask(host, '!mcp tools child')).to.contain('`child_grown` (write): New.');
    expect(
      host
        .resolve(Tools)
        .list()
        .map(({ name }) => name),
    ).to.include('child_grown');
  });

  it('gets neither a form filled in, nor folders, nor a model', async () => {
    const [form, roots, sampling] = JSON.parse(textOf(await call(host, 'child_ask')));
    expect(form).to.deep.equal({ action: 'decline' });
    expect(roots).to.deep.equal({ roots: [] });
    expect(sampling).to.match(/does not lend its model/);
  });

  it('that dies is reported, and is restarted with growing delays', async () => {
    expect(textOf(await call(host, 'child_crash'))).to.equal(
      'The MCP server "child" stopped while this was running: it is not known whether it took effect.',
    );
    const refused = textOf(await call(host, 'child_cancelled'));
    expect(refused).to.match(/^The MCP server "child" is not running: it stopped.* It is tried again in 1 s\.$/);
    expect(await ask(host, '!mcp list')).to.match(/`child` .* waiting: .*next try in 1 s; \d+ tools/);
    await host.advance(1_000);
    await ask(host, '!mcp tools');
    expect(textOf(await call(host, 'child_cancelled'))).to.equal('0');

    await call(host, 'child_crash');
    await host.advance(1_000);
    expect(textOf(await call(host, 'child_cancelled'))).to.match(/tried again in 1 s/);
    await host.advance(1_000);
    await ask(host, '!mcp tools');
    expect(textOf(await call(host, 'child_cancelled'))).to.equal('0');
  });

  it('is started at once when the owner says so', async () => {
    await call(host, 'child_crash');
    expect(await ask(host, '!mcp restart child')).to.match(/^`child` is running, with \d+ tools\.$/);
    expect(await ask(host, '!mcp restart nothing')).to.equal('There is no MCP server "nothing". Configured: child.');
    host.alice.say(host.general, '!mcp restart child');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^You may not do that/);
  });

  it('receives a cancellation', async () => {
    const progress = createMailbox<ToolProgress>();
    const abort = new AbortController();
    const running = call(host, 'child_patient', {}, { signal: abort.signal, onProgress: progress.push });
    await progress.next();
    abort.abort();
    expect(textOf(await running)).to.equal('The call was cancelled, and the MCP server "child" was told so.');
    expect(textOf(await call(host, 'child_cancelled'))).to.equal('1');
  });

  it('extends the deadline of a call with progress, and exceeds it without', async () => {
    const progress = createMailbox<ToolProgress>();
    const first = call(host, 'child_patient', {}, { onProgress: progress.push });
    expect(await progress.next()).to.deep.equal({ progress: 1, message: 'here' });
    host.clock.advance(9_000);
    await call(host, 'child_nudge');
    expect(await progress.next()).to.deep.equal({ progress: 2, message: 'here' });
    host.clock.advance(9_000);
    await call(host, 'child_nudge', { end: true });
    expect(textOf(await first)).to.equal('at last');

    const second = call(host, 'child_patient', {}, { onProgress: progress.push });
    await progress.next();
    host.clock.advance(10_000);
    expect(textOf(await second)).to.match(/^The MCP server "child" did not answer within 10 s\./);
  });
});

describe('the process of an MCP server', function () {
  this.timeout(60_000);

  /** Unloads the plugin while a child process of the server is alive; resolves when that has ended. */
  const outlive = async (host: TestHost, how: Readonly<Record<string, unknown>>) => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const connected = once(listener, 'connection');
    await call(host, 'child_offspring', { ...how, port: typeof address === 'object' ? address?.port : undefined });
    const [socket] = await connected;
    const closed = once(socket.resume(), 'close');
    await host.plugins.unload('mcp');
    await closed;
    listener.close();
  };

  it('ends with the plugin, and what it has started ends with it', async function () {
    if (process.platform === 'win32') this.skip();
    await using host = await openMcpHarness({ child: CHILD });
    await outlive(host, {});
  });

  it('cannot leave a process behind in a separate session', async function () {
    if (process.platform !== 'linux') this.skip();
    await using host = await openMcpHarness({ child: CHILD });
    await outlive(host, { detached: true });
  });

  it('cannot hide a process without parent and environment, where there are control groups', async function () {
    if (process.platform !== 'linux') this.skip();
    await using host = await openMcpHarness({ child: CHILD });
    if (!processFile(startedServer().pid, 'cgroup').includes('cinnabar-mcp-')) this.skip();
    await outlive(host, { hidden: true });
  });

  it('that a killed bot has left behind ends when the bot starts again', async function () {
    if (process.platform !== 'linux') this.skip();
    await using host = await openMcpHarness({ child: CHILD });
    const [owner, run] = startedServer().mark.split('-');
    const start = (mark: string) => {
      const env = { CINNABAR_MCP_PROCESS: mark };
      return spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { env, detached: true });
    };
    const left = start(`${owner}-1x2-of-an-earlier-run`);
    const ended = once(left, 'exit');
    // Of another part of this run, and of another bot.
    const others = [start(`${owner}-${run}-of-another-part`), start('another-1x2-of-an-earlier-run')];
    await Promise.all([left, ...others].map((child) => child.pid ?? once(child, 'spawn')));
    await host.plugins.reload('mcp');
    expect(await ended).to.deep.equal([null, 'SIGKILL']);
    for (const other of others) {
      expect([other.exitCode, other.signalCode]).to.deep.equal([null, null]);
      other.kill('SIGKILL');
    }
  });

  const floods = [
    ['prints a line without end', { to: 'stdout', chunk: 'x' }, /it sent a message of more than 8 MB/],
    ['prints a message of very many parts', { to: 'stdout', chunk: '[' }, /it sent a message of more than 50000 parts/],
    ['prints very many lines', { to: 'stdout', chunk: '\n' }, /it sent more than 64 MB within a minute/],
  ] as const;
  for (const [what, how, why] of floods) {
    it(`is ended when it ${what}`, async () => {
      await using host = await openMcpHarness({ child: CHILD });
      await call(host, 'child_flood', how);
      // Waits for the end of the call.
      await call(host, 'child_patient');
      expect(await ask(host, '!mcp list')).to.match(why);
    });
  }

  it('has to wait when it prints errors without end, and the bot goes on', async () => {
    await using host = await openMcpHarness({ child: CHILD });
    const before = process.memoryUsage().rss;
    await call(host, 'child_flood', { to: 'stderr', chunk: 'x' });
    for (let second = 0; second < 20; second += 1) await host.advance(1_000);
    expect(await ask(host, '!mcp list')).to.match(/`child` .* running/);
    expect(process.memoryUsage().rss - before).to.be.below(200 * 1024 * 1024);
  });

  it('gets the variables that are configured for it, and none of the others', async () => {
    process.env.CINNABAR_TEST_SECRET = 'not for servers';
    try {
      const env = { API_KEY: reference('KEY_OF_SERVER'), PLAIN: 'yes' };
      await using host = await openMcpHarness(
        { child: { ...CHILD, env } },
        { env: { KEY_OF_SERVER: 'k-123', OTHER: 'x' } },
      );
      const seen = JSON.parse(textOf(await call(host, 'child_environment')));
      expect(seen).to.include({ API_KEY: 'k-123', PLAIN: 'yes' });
      expect(seen).to.not.have.any.keys('CINNABAR_TEST_SECRET', 'OTHER', 'KEY_OF_SERVER');
    } finally {
      delete process.env.CINNABAR_TEST_SECRET;
    }
  });

  it('is not started before it is needed, once its tools are known', async () => {
    const first = await openMcpHarness({ child: CHILD });
    await first.stop();
    const { dataDir } = first;
    await using again = await openMcpHarness({ child: CHILD }, { world: first, dataDir });
    expect(await ask(again, '!mcp list')).to.match(/`child` .* not started; 15 tools/);
    expect(textOf(await call(again, 'child_cancelled'))).to.equal('0');
    expect(await ask(again, '!mcp list')).to.match(/`child` .* running; 15 tools/);
    await first[Symbol.asyncDispose]();
  });

  it('that cannot be started is reported with the reason', async () => {
    await using host = await openMcpHarness({
      gone: { command: '/no/such/program', tier: 'everyone' },
      secret: { ...CHILD, env: { TOKEN: reference('NOT_SET') } },
    });
    const list = await ask(host, '!mcp list');
    expect(list).to.match(/`gone` .* waiting: .*ENOENT.*next try in 1 s; 0 tools/);
    expect(list).to.match(/`secret` .* waiting: the environment variable NOT\\_SET is not set/);
  });

  it('has tools for the owner of the bot alone, unless it is said otherwise', async () => {
    await using host = await openMcpHarness({ child: { command: CHILD.command, args: CHILD.args } });
    expect(textOf(await call(host, 'child_cancelled'))).to.match(/may not be used: you need to be at least/);
  });
});
