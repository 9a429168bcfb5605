import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalChannel } from '@cinnabar/local-discord';
import { HostInfo, type ToolProgress, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { textOf } from '../../plugins/mcp/harness.js';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;
const script = fileURLToPath(new URL('../../plugins/mcp/child.js', import.meta.url));

/** Two processes with the same tool server in their configuration, which records each of its starts. */
async function createTwoProcesses() {
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-tool-servers-'));
  const starts = join(folder, 'started');
  writeFileSync(starts, '');
  const program = `require('node:fs').appendFileSync(${JSON.stringify(starts)}, process.pid + '\\n'); import(${JSON.stringify(script)})`;
  const child = {
    command: process.execPath,
    args: ['-e', program],
    tier: 'everyone',
    risk: 'hints',
    timeoutMs: 10_000,
  };
  writeFileSync(join(folder, 'shared.yaml'), JSON.stringify({ settings: { mcp: { servers: { child } } } }));
  const world = await createClusterWorld({ groups: GROUPS, guilds: 2 });
  const { members, hosts } = await world.processes(['mcp'], { CINNABAR_CONFIG: folder });
  const hostOf = ({ guild }: LocalChannel) => {
    const host = hosts().find(({ client }) => client.guilds.cache.has(guild?.id ?? ''));
    if (host === undefined) throw new Error('nobody serves that server');
    return host;
  };
  const isFirst = (channel: LocalChannel) => hostOf(channel).resolve(HostInfo).isFirst;
  const near = world.channels.find(isFirst);
  const far = world.channels.find((channel) => !isFirst(channel));
  if (near === undefined || far === undefined) throw new Error('a process has no server');
  const toolsOf = (channel: LocalChannel) => hostOf(channel).resolve(Tools);
  const has = (channel: LocalChannel, name: string) =>
    toolsOf(channel)
      .list()
      .some((tool) => tool.name === name);
  return {
    world,
    members,
    near,
    far,
    has,
    hostOf,
    /** Process ids of the server's running processes. */
    running: () => readFileSync(starts, 'utf8').trim().split('\n').filter(isRunning),
    async call(
      channel: LocalChannel,
      name: string,
      input: unknown = {},
      more: { signal?: AbortSignal; onProgress?: (progress: ToolProgress) => void } = {},
    ) {
      const actor = { userId: world.owner.id, guildId: channel.guild?.id ?? '', channelId: channel.id };
      return textOf(await toolsOf(channel).invoke({ name, arguments: input, actor, origin: 'test', ...more }));
    },
    /** The bot's answer to a command of its owner. */
    async ask(channel: LocalChannel, words: string) {
      const said = world.owner.say(channel, words);
      await world.until(() => world.answersTo(said).length > 0);
      return world.answersTo(said)[0]?.content ?? '';
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) if (member.groups().length > 0) await member.stop();
      await world[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isRunning(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

describePostgres('cluster: tool servers of mcp', () => {
  /** For the tests after which both processes run on. */
  let two: Awaited<ReturnType<typeof createTwoProcesses>>;
  before(async function () {
    this.timeout(60_000);
    two = await createTwoProcesses();
  });
  after(() => two[Symbol.asyncDispose]());

  it('run once for the servers of all processes, tell how far they are, and are looked after from everywhere', async () => {
    const { world, near, far, has, call, ask, running } = two;
    await world.until(() => [near, far].every((channel) => has(channel, 'child_patient')));
    expect(await call(far, 'child_cancelled')).to.equal('0');
    expect(await call(near, 'child_fail')).to.equal('The disk is full.');
    expect(await call(far, 'child_fail')).to.equal('The disk is full.');

    const waiting = call(far, 'child_patient', {}, { onProgress: () => void call(near, 'child_nudge', { end: true }) });
    expect(await waiting).to.equal('at last');
    const gone = new AbortController();
    expect(await call(far, 'child_patient', {}, { signal: gone.signal, onProgress: () => gone.abort() })).to.equal(
      'The call was cancelled, and the MCP server "child" was told so.',
    );
    expect(await call(near, 'child_cancelled')).to.equal('1');

    await call(far, 'child_grow');
    expect(await ask(far, '!mcp tools child')).to.include('not offered, changed or new: `grown`');
    expect(await ask(far, '!mcp accept child')).to.match(/^`child` offers \d+ tools now\.$/);
    await world.until(() => [near, far].every((channel) => has(channel, 'child_grown')));
    await world.later(world.until(() => world.notices().length > 0));
    expect(world.notices().filter((text) => text.includes('has changed or added'))).to.have.length(1);

    expect(await ask(far, '!mcp list')).to.match(/`child` .* running; \d+ tools/);
    const before = running();
    expect(before, 'running programs').to.have.length(1);
    expect(await ask(far, '!mcp restart child')).to.match(/^`child` is running, with \d+ tools\.$/);
    expect(await ask(far, '!mcp restart nothing')).to.equal('There is no MCP server "nothing". Configured: child.');
    expect(running(), 'running programs').to.have.length(1).and.not.eql(before);
  }).timeout(60_000);

  it('that a killed run of a process has left end when it starts again, also where another one keeps them by now', async function () {
    if (process.platform !== 'linux') this.skip();
    const { world, near, far, has, call, running, hostOf } = two;
    await world.until(() => [near, far].every((channel) => has(channel, 'child_patient')));
    // The tools are already known, since the servers have moved at the start, so the server starts with the first call.
    await call(near, 'child_cancelled');
    const before = running();
    const host = hostOf(far);
    const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
      env: { CINNABAR_MCP_PROCESS: `${host.resolve(HostInfo).installation}-1x2-of-an-earlier-run` },
      detached: true,
    });
    const ended = once(left, 'exit');
    await host.plugins.reload('mcp');
    expect(await ended).to.deep.equal([null, 'SIGKILL']);
    expect(running()).to.eql(before).and.to.have.length(1);
  }).timeout(60_000);

  it('go to the process that takes over what belongs to no server', async () => {
    await using stopping = await createTwoProcesses();
    const { world, members, near, far, has, call, running } = stopping;
    await world.until(() => [near, far].every((channel) => has(channel, 'child_cancelled')));
    expect(await call(far, 'child_cancelled')).to.equal('0');
    const before = running();
    const [first, staying] = members.toSorted((member) => (member.groups().includes(0) ? -1 : 1));
    await first?.stop();
    await world.until(() => [...(staying?.hosts() ?? [])].filter(({ client }) => client.isReady()).length === GROUPS);
    await world.until(() => has(far, 'child_cancelled'));
    expect(await call(far, 'child_cancelled')).to.equal('0');
    expect(running(), 'running programs').to.have.length(1).and.not.eql(before);
  }).timeout(60_000);
});
