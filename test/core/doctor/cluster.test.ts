import { findingsOfAll } from '@cinnabar/core/internal/doctor/all-processes';
import { CinnabarError, definePlugin, HostInfo, NO_CHANNEL, WebPages, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from '../cluster/harness.js';

const GROUPS = 4;

/** Checks a property of the whole bot, and a property of each machine. */
const oracle = definePlugin({
  manifest: { id: 'oracle', version: '1.0.0', description: 'Knows.', permissions: ['SendMessages'] },
  env: z.object({ ORACLE_HOUSE: z.string().default('nowhere') }),
  checks: ({ env }) => [
    { ok: true, text: 'The future is known' },
    { ok: env.ORACLE_HOUSE === 'Delphi', text: `It is at home in ${env.ORACLE_HOUSE}`, remedy: 'Move to Delphi.' },
  ],
  setup: () => undefined,
});

/** Two processes with two groups each, and one without groups. */
async function createThreeProcesses() {
  const world = await createClusterWorld({ groups: GROUPS, guilds: 4 });
  const members = [
    ['earth', 'Delphi'],
    ['mars', 'Olympus'],
  ].map(([name = '', ORACLE_HOUSE = '']) => world.member(name, ['admin', oracle], { ORACLE_HOUSE }));
  for (const member of members) await member.start();
  await world.until(() => members.every((member) => member.groups().length === 2));
  const { schema, query } = world.database;
  await query(
    `INSERT INTO ${schema}.members (id, name, version, draining, seen_at) VALUES ('0', 'venus', '1', true, now() + interval '1 hour')`,
  );
  const direct = world.owner.openDm(world.application);
  return {
    world,
    direct,
    hosts: () => members.flatMap((member) => [...member.hosts()]),
    /** The parts of the doctor's answer: about the whole bot, then about each process, under its name. */
    async examine() {
      const before = direct.messages.length;
      world.owner.say(direct, '!doctor');
      const heard = () =>
        direct.messages
          .slice(before)
          .map(({ content }) => content)
          .join('\n');
      await world.until(() => /not as they should be|nicht, wie|not as it should be/.test(heard()));
      return heard().split(/^(?:Process|Prozess) \*\*(\w+)\*\*$/m);
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

describePostgres('the doctor of a cluster', () => {
  let three: Awaited<ReturnType<typeof createThreeProcesses>>;
  before(async function () {
    this.timeout(60_000);
    three = await createThreeProcesses();
  });
  after(() => three[Symbol.asyncDispose]());

  it('tells once what is about the whole bot, and below its name what is about each process', async () => {
    const [bot = '', ...processes] = await three.examine();
    expect(processes.filter((_, index) => index % 2 === 0)).to.eql(['earth', 'mars', 'venus']);
    const [, earth = '', , mars = '', , venus = ''] = processes;
    expect(bot.match(/\*\*oracle\*\*: The future is known/g)).to.have.length(1);
    expect(bot).to.include('**database**: The database answers').and.to.include('**permissions**');
    expect(bot).not.to.include('at home').and.not.to.include('**data**');
    for (const part of [earth, mars]) {
      expect(part.match(/\*\*data\*\*: The folder of the data can be written to/g)).to.have.length(1);
      expect(part.match(/The clock of this machine agrees with Discord/g)).to.have.length(1);
      expect(part).not.to.include('**database**').and.not.to.include('The future');
    }
    expect(earth).to.include('✓ **oracle**: It is at home in Delphi');
    expect(mars).to.include('✗ **oracle**: It is at home in Olympus').and.to.include('-# Move to Delphi.');
    expect(venus).to.include('It serves no servers at the moment, and was not examined');
  }).timeout(60_000);

  it('answers in the language of the requester', async () => {
    const { world, direct } = three;
    const choose = async (language: string) => {
      const chosen = world.owner.say(direct, `!language me ${language}`);
      await world.until(() => direct.messages.some(({ reference }) => reference?.messageId === chosen.id));
    };
    await choose('de');
    const [, , earth = '', , mars = ''] = await three.examine();
    await choose('en');
    for (const part of [earth, mars]) expect(part).to.include('In den Ordner der Daten lässt sich schreiben');
  }).timeout(60_000);

  it('is a page with the process of each finding', async () => {
    const pages = three
      .hosts()
      .find((host) => host.resolve(HostInfo).isFirst)
      ?.resolve(WebPages);
    const actor = { userId: three.world.owner.id, guildId: null, channelId: NO_CHANNEL };
    const [table] = (await pages?.view('admin/doctor', { actor, query: {} }))?.blocks ?? [];
    const rows = table?.kind === 'table' ? table.rows.map(({ cells }) => cells.slice(1)) : [];
    expect(rows).to.deep.include([null, 'oracle', 'The future is known', null]);
    expect(rows).to.deep.include(['mars', 'oracle', 'It is at home in Olympus', 'Move to Delphi.']);
  }).timeout(60_000);

  it('is asked by the command line, too, beside what is found on its machine', async () => {
    const { database, discord, application } = three.world;
    using folder = makeFolder({ 'config/shared.yaml': `storage:\n  schema: ${database.schema}\n` });
    const { code, out } = await cinnabar(['doctor', '--json'], {
      cwd: folder.path,
      env: { DATABASE_URL: database.url, DISCORD_API: discord.api, DISCORD_TOKEN: application.token },
    });
    const findings = z
      .object({ findings: z.array(z.object({ about: z.string(), process: z.string().optional(), text: z.string() })) })
      .parse(JSON.parse(out)).findings;
    const about = (name: string) => findings.filter(({ about: of }) => of === name).map(({ process }) => process);
    expect(about('database').filter((process) => process !== undefined)).to.eql([]);
    expect([...new Set(about('data'))]).to.eql([undefined, 'earth', 'mars']);
    expect(about('process')).to.eql(['venus']);
    expect(code).to.equal(1);
  }).timeout(60_000);
});

describe('the doctor’s findings about processes', () => {
  const own = { process: 'earth', findings: [] };
  const silent = (error: unknown) => [{ process: 'mars', state: 'silent', error }] as const;

  it('names one that does not answer in time', () => {
    const [finding, ...others] = findingsOfAll(
      own,
      silent(new CinnabarError('CINNABAR_CLUSTER_NO_ANSWER', { group: '1' })),
    );
    expect(others).to.eql([]);
    expect(finding).to.include({ process: 'mars', ok: false, text: 'There was no answer within 18 s.' });
  });

  it('names one that cannot be examined, such as one of an earlier version', () => {
    const [finding] = findingsOfAll(own, silent(new Error('it has failed')));
    expect(finding).to.include({ process: 'mars', ok: false, text: 'It could not be examined' });
  });
});
