import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTestHost } from '@cinnabar/core/testing';
import { parseListen, readYaml, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(at(path), 'utf8');

/** Instructions of a Dockerfile, without comments and with joined continuation lines. */
function instructionsOf(text: string): readonly (readonly [name: string, rest: string])[] {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const match = /^([A-Z]+)\s+(.*)$/.exec(line);
      return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const];
    });
}

/** `KEY=value` lines of a unit file; a key may occur several times. */
function unitOf(text: string): (key: string) => readonly string[] {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line));
  return (key) => lines.flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
}

const composeSchema = z.object({
  services: z.object({
    bot: z.looseObject({
      build: z.literal('.'),
      restart: z.string(),
      init: z.boolean(),
      read_only: z.boolean(),
      stop_grace_period: z.string(),
      volumes: z.array(z.string()),
      healthcheck: z.object({ test: z.array(z.string()), interval: z.string(), timeout: z.string() }).loose(),
    }),
  }),
  volumes: z.record(z.string(), z.unknown()),
});

const clusterSchema = z.object({
  services: z.object({
    database: z.looseObject({ image: z.string() }),
    bot: z.looseObject({
      command: z.array(z.string()),
      deploy: z.object({ replicas: z.int() }),
      restart: z.string(),
      init: z.boolean(),
      read_only: z.boolean(),
      stop_grace_period: z.string(),
      environment: z.record(z.string(), z.string()),
      tmpfs: z.array(z.string()),
    }),
  }),
});

const instructions = instructionsOf(read('Dockerfile'));
const all = (name: string) => instructions.flatMap(([one, rest]) => (one === name ? [rest] : []));
const last = (name: string) => all(name).at(-1) ?? '';
const list = (text: string) => z.array(z.string()).parse(JSON.parse(text));
const imageVariables = new Map(
  last('ENV')
    .split(/\s+/)
    .map((pair) => pair.split('=', 2) as [string, string]),
);

describe('the image', () => {
  it('starts the command line that is built, on a Node that the bot runs on, without a shell in between', () => {
    const command = [...list(last('ENTRYPOINT')), ...list(last('CMD'))];
    expect(command).to.deep.equal(['node', 'core/dist/cli/main.js', 'start']);
    expect(existsSync(at(command[1] ?? ''))).to.equal(true);
    // The newest version of each of these majors is at least 22.12.
    expect(Number(/^node:(\d+)-/.exec(all('FROM')[0] ?? '')?.[1])).to.be.at.least(22);
  });

  it('builds what the host needs, none of which is left out of it', () => {
    expect(last('RUN')).to.not.equal('');
    expect(all('RUN').join('\n')).to.include('npx tsc -b tsconfig.host.json');
    const { references } = z
      .object({ references: z.array(z.object({ path: z.string() })) })
      .parse(JSON.parse(read('tsconfig.host.json')));
    const ignored = read('.dockerignore').split('\n');
    const needed = [
      'package-lock.json',
      'tsconfig.host.json',
      'plugins',
      'config',
      ...references.map(({ path }) => path),
    ];
    expect(needed.filter((path) => ignored.includes(path))).to.deep.equal([]);
    expect(needed.filter((path) => !existsSync(at(path)))).to.deep.equal([]);
    expect(ignored).to.include.members(['.env', '.git', '**/node_modules', 'data']);
  });

  it('runs as an ordinary user, writes below its volume only, and is asked for its health where it listens', async () => {
    expect(last('USER')).to.equal('node');
    expect(imageVariables.get('CINNABAR_DATA')).to.equal(last('VOLUME'));
    const reference = read('docs/reference/environment.md');
    const known = [...reference.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).concat('NODE_ENV');
    expect([...imageVariables.keys()].filter((name) => !known.includes(name))).to.deep.equal([]);
    expect(parseListen(imageVariables.get('CINNABAR_MONITORING') ?? '')).to.include({ host: '127.0.0.1' });
    const check = list(/CMD (\[.*\])$/.exec(last('HEALTHCHECK'))?.[1] ?? '[]');
    expect(check).to.deep.equal(['node', 'core/healthcheck.mjs']);
    expect(existsSync(at(check[1] ?? ''))).to.equal(true);
  });
});

describe('the compose file', () => {
  it('restarts the bot, gives it time to stop, and keeps its data in a volume', () => {
    const reading = readYaml(read('compose.yaml'));
    if (!reading.ok) throw new Error(reading.problem);
    const { services, volumes } = composeSchema.parse(reading.values);
    const { bot } = services;
    expect([bot.restart, bot.init, bot.read_only]).to.deep.equal(['unless-stopped', true, true]);
    expect(Number.parseInt(bot.stop_grace_period, 10)).to.be.at.least(20);
    const [volume = '', folder] = (bot.volumes[0] ?? '').split(':');
    expect(Object.keys(volumes)).to.include(volume);
    expect(folder).to.equal(imageVariables.get('CINNABAR_DATA'));
    expect(bot.volumes[1]).to.equal(`./config:${last('WORKDIR')}/config:ro`);
  });

  it('asks for the health as the image does', () => {
    const reading = readYaml(read('compose.yaml'));
    if (!reading.ok) throw new Error(reading.problem);
    const { test, interval, timeout } = composeSchema.parse(reading.values).services.bot.healthcheck;
    expect(last('HEALTHCHECK')).to.include(`--interval=${interval} --timeout=${timeout}`);
    expect(last('HEALTHCHECK')).to.include(`CMD ${JSON.stringify(test.slice(1)).replaceAll(',', ', ')}`);
  });
});

describe('the compose file of a cluster', () => {
  it('starts processes over one database, and gives each time to hand over', () => {
    const reading = readYaml(read('config/cluster/compose.yaml'));
    if (!reading.ok) throw new Error(reading.problem);
    const { bot, database } = clusterSchema.parse(reading.values).services;
    expect(bot.command).to.deep.equal(['start', '--cluster']);
    expect(bot.deploy.replicas).to.be.at.least(2);
    expect([bot.restart, bot.init, bot.read_only]).to.deep.equal(['unless-stopped', true, true]);
    expect(Number.parseInt(bot.stop_grace_period, 10)).to.be.at.least(30);
    expect(bot.environment.DATABASE_URL).to.include('@database/');
    expect(bot.tmpfs).to.include(imageVariables.get('CINNABAR_DATA'));
    expect(database.image).to.match(/^postgres:\d+$/);
  });
});

describe('the unit file', () => {
  const values = unitOf(read('config/systemd/cinnabar.service'));
  const one = (key: string) => values(key)[0] ?? '';
  const variables = new Map(values('Environment').map((pair) => pair.split('=', 2) as [string, string]));

  it('starts the command line that is built, with variables that there are', () => {
    const [env, node, program = '', command] = one('ExecStart').split(' ');
    expect([env, node, command]).to.deep.equal(['/usr/bin/env', 'node', 'start']);
    expect(existsSync(at(program))).to.equal(true);
    const reference = read('docs/reference/environment.md');
    const known = [...reference.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).concat('NODE_ENV');
    expect([...variables.keys()].filter((name) => !known.includes(name))).to.deep.equal([]);
    expect(variables.get('CINNABAR_DATA')).to.equal(`/var/lib/${one('StateDirectory')}`);
    expect(variables.get('CINNABAR_MONITORING')).to.equal(imageVariables.get('CINNABAR_MONITORING'));
  });

  it('restarts after a crash, not after a mistake, and gives the bot time to stop', () => {
    expect([one('Restart'), one('RestartPreventExitStatus'), one('KillMode')]).to.deep.equal([
      'on-failure',
      '1',
      'mixed',
    ]);
    expect(Number.parseInt(one('TimeoutStopSec'), 10)).to.be.at.least(20);
    expect(one('User')).to.equal('cinnabar');
  });
});

describe('the health check', () => {
  const check = (listen: string | undefined, page?: string) =>
    new Promise<{ code: number; said: string }>((resolve) => {
      const env = listen === undefined ? {} : { CINNABAR_MONITORING: listen };
      const parameters = [at('core/healthcheck.mjs'), ...(page === undefined ? [] : [page])];
      const child = execFile(process.execPath, parameters, { env }, (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, said: `${out}${err}`.trim() }),
      );
    });

  it('succeeds while the bot lives, and asks whether it is ready when told to', async () => {
    const host = await createTestHost({ plugins: [], monitoring: true });
    const { port } = new URL(host.monitoringUrl ?? '');
    try {
      const checks = await Promise.all([check(port), check(`0.0.0.0:${port}`), check(`127.0.0.1:${port}`, 'readyz')]);
      expect(checks).to.deep.equal([
        { code: 0, said: '{"status":"ok"}' },
        { code: 0, said: '{"status":"ok"}' },
        { code: 0, said: '{"status":"ready"}' },
      ]);
    } finally {
      await host[Symbol.asyncDispose]();
    }
    expect(await check(port)).to.deep.include({ code: 1 });
  });

  it('fails with a sentence when it is not said where to ask', async () => {
    // An empty variable counts as unset.
    for (const listen of [undefined, '', 'somewhere']) {
      expect(await check(listen)).to.deep.equal({
        code: 1,
        said: 'the bot does not answer: CINNABAR_MONITORING must be a port or host:port',
      });
    }
  });

  it('takes a bot whose monitoring is off by choice for alive, but not for ready', async () => {
    expect(await check('off')).to.deep.equal({ code: 0, said: 'monitoring is off: the bot is not asked' });
    expect((await check('off', 'readyz')).code).to.equal(1);
  });
});

describe('the pages on running the bot for good', () => {
  const pages = ['docker', 'systemd', 'monitoring'].map((name) => `docs/operators/${name}.md`);
  const text = pages.map(read).join('\n');

  it('name files that there are, every page for machines, and every exit code', () => {
    for (const name of ['Dockerfile', 'compose.yaml', 'config/systemd/cinnabar.service', 'core/healthcheck.mjs']) {
      expect(text, name).to.include(name);
      expect(existsSync(at(name)), name).to.equal(true);
    }
    for (const code of ['0', '1', '75', '130']) expect(text).to.match(new RegExp(`^\\| ${code} \\|`, 'm'));
    for (const path of ['/healthz', '/readyz', '/metrics', 'CINNABAR_MONITORING']) expect(text).to.include(path);
  });

  it('are named by the README', () => {
    for (const page of pages) expect(read('README.md')).to.include(`](${page})`);
  });
});
