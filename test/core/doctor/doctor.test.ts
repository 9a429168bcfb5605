import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Doctor, type DoctorFinding, definePlugin, Plugins, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const KEY = 'sk-very-secret-key-000';
const oracle = definePlugin({
  manifest: { id: 'oracle', version: '1.0.0', description: 'Knows', permissions: ['SendMessages', 'Administrator'] },
  settings: { global: z.object({ house: z.string().default('Delphi').describe('Where') }) },
  env: z.object({ ORACLE_API_KEY: z.string().optional().meta({ secret: true }) }),
  checks: async ({ settings, env }) => [
    { ok: true, text: `It is at home in ${(await settings.global.get()).house}` },
    { ok: false, text: `The key ${env.ORACLE_API_KEY} is old`, remedy: 'Buy another.' },
  ],
  setup: () => undefined,
});
const broken = definePlugin({
  manifest: { id: 'broken', version: '1.0.0', description: 'Fails' },
  checks: () => Promise.reject(new Error('no route to host')),
  setup: () => undefined,
});

describe('the doctor', () => {
  let host: TestHost;
  let findings: readonly DoctorFinding[];
  before(async () => {
    host = await createTestHost({
      plugins: ['admin', 'mcp', 'welcome', oracle, broken],
      env: { ORACLE_API_KEY: KEY },
      settings: {
        mcp: {
          servers: {
            lost: { command: 'no-such-program-0' },
            keyed: { url: 'http://127.0.0.1:9', headers: { Authorization: `Bearer \${NO_SUCH}` } },
          },
        },
      },
    });
    const quiet = host.guild.createChannel({ name: 'quiet' });
    const [role] = [...(host.guild.members.get(host.bot.id)?.roles ?? [])];
    if (role !== undefined) host.guild.overwrite(quiet, { for: role, deny: ['SendMessages'] });
    await host.settled();
    findings = await host.resolve(Doctor).examine();
  });
  after(() => host[Symbol.asyncDispose]());
  const about = (name: string) => findings.filter((one) => one.about === name);
  const texts = (name: string) => about(name).map(({ ok, text }) => `${ok ? '✓' : '✗'} ${text}`);

  it('asks Discord whose the token is, and whether the clocks agree', async () => {
    expect(texts('Discord')).to.deep.equal([
      '✓ The token is that of Cinnabar',
      '✓ The clock of this machine agrees with Discord',
    ]);
    const date = new Date(host.clock.now() + 90_000).toUTCString();
    host.discord.faults.rest.fail(401, { route: '/users/@me', headers: { date } });
    const later = (await host.resolve(Doctor).examine()).filter((one) => one.about === 'Discord');
    expect(later.map(({ text }) => text)).to.deep.equal([
      'Discord does not accept the token',
      'The clock of this machine is 90 s away from that of Discord',
    ]);
    expect(later[1]?.remedy).to.include('NTP');
  });

  it('compares the privileged intents that are wanted with those that are switched on', () => {
    expect(texts('intents')).to.deep.equal(['✓ The Message Content Intent is switched on']);
  });

  it('names the plugins that an admin has switched on and of which a part needs an intent that nothing asks for', async () => {
    const later = async () => (await host.resolve(Doctor).examine()).filter((one) => one.about === 'intents').slice(1);
    expect(await later()).to.deep.equal([]);
    await host.resolve(Plugins).enable(host.guild.id, 'welcome');
    const [finding, ...others] = await later();
    expect(others).to.deep.equal([]);
    expect(finding?.text).to.equal('Without the Server Members Intent a part of these plugins does not work: welcome');
    expect(finding?.remedy).to.include('`intents: [GuildMembers]` below `host`');
    await host.resolve(Plugins).disable(host.guild.id, 'welcome');
  });

  it('names the permissions that plugins lack in a server, and in channels in which members write', () => {
    expect(texts('permissions')).to.include('✗ In Night City the bot lacks Administrator (for oracle)');
    expect(texts('permissions').join('\n')).to.match(/channels in which members write: #quiet \(Send Messages/);
  });

  it('looks at the data, its disk and who holds it, and at the files of the configuration', () => {
    expect(texts('data').join('\n')).to.match(
      /✓ The folder of the data can be written to\n.* MB are free .*\n✓ The data is in use by process \d+/,
    );
    expect(texts('configuration')).to.deep.equal(['✓ The files of the configuration are right']);
    expect(texts('program')[0]).to.match(/^✓ Cinnabar .*, discord\.js .*, Node /);
  });

  it('has what plugins check by their one declaration, with their settings and variables, and no secret in it', () => {
    expect(texts('oracle')).to.deep.equal(['✓ It is at home in Delphi', '✗ The key [redacted] is old']);
    expect(about('oracle')[1]?.remedy).to.equal('Buy another.');
    expect(texts('broken')).to.deep.equal(['✗ This could not be checked: no route to host']);
    expect(texts('mcp')).to.deep.equal([
      '✗ The program no-such-program-0 of the server lost cannot be found',
      '✗ The server keyed needs variables that are not set: NO_SUCH',
    ]);
    expect(JSON.stringify(findings)).to.not.include(KEY).and.not.include(host.application.token);
  });

  it('answers the owner of the bot alone, in private', async () => {
    host.alice.say(host.general, '!doctor');
    host.you.say(host.general, '!doctor');
    await host.settled();
    expect(host.general.messages.map(({ content }) => content).join('\n')).to.include(
      "you need to be at least the bot's owner",
    );
    const answer = host.you
      .openDm(host.application)
      .messages.map(({ content }) => content)
      .join('\n');
    expect(answer)
      .to.include('✓ **Discord**: The token is that of Cinnabar')
      .and.match(/\d+ things are not as they should be/);
  });
});
