import { fileURLToPath } from 'node:url';
import { type CommandDefinition, option, subcommand, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { Routes } from 'discord.js';
import { createHarness, type Harness, offlineCommands } from '../support/harness.js';

const run = () => undefined;
const GUILD_LIST = '/applications/:applicationId/guilds/:guildId/commands';

describe('slash sync', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  const register = (name: string, more: Partial<CommandDefinition> = {}, owner = harness.owner('dice')) => {
    harness.commands.command(owner, { name, description: 'A command', run, ...more });
    return owner;
  };
  const namesOf = (commands: Iterable<{ readonly name: string }> | undefined) =>
    [...(commands ?? [])].map((one) => one.name);
  const inGuild = (guild = harness.guild) => namesOf(harness.app.guildCommands.get(guild.id)?.values());
  const inDms = () => namesOf(harness.app.globalCommands.values());
  const writes = () => harness.discord.requests.all.filter((request) => request.method === 'PUT');

  it('puts commands where they can be used', async () => {
    register('both');
    register('guild-only', { access: { where: 'guild' } });
    register('dm-only', { access: { where: 'dm' } });
    await harness.commands.syncAll();
    expect(inGuild()).to.have.members(['both', 'guild-only']);
    expect(inDms()).to.have.members(['both', 'dm-only']);
  });

  it('makes no request without a change, and sends nothing after a comparison, with any fields that Discord adds', async () => {
    harness.commands.group(harness.owner('bag'), {
      name: 'bag',
      description: 'Dice',
      access: { member: ['KickMembers'] },
      commands: [
        subcommand({
          name: 'add',
          description: 'Adds',
          options: {
            who: option.member(),
            style: z.enum(['a', 'b']),
            sides: z.int().min(2).default(6),
            x: option.channel([0]).optional(),
          },
          run,
        }),
      ],
    });
    register('roll', { options: { die: option.suggested(() => []) } });
    await harness.commands.syncAll();
    harness.discord.requests.reset();
    await harness.commands.syncAll();
    expect(harness.discord.requests.all).to.deep.equal([]);
    await harness.commands.sync(harness.guild.id, true);
    expect(harness.discord.requests.of('GET', GUILD_LIST)).to.have.length(1);
    expect(writes()).to.deep.equal([]);
  });

  it('sends descriptions in the languages that there are catalogues for, and nothing when it looks again', async () => {
    harness.catalogues.push(fileURLToPath(new URL('../../../../fixtures/languages/commands', import.meta.url)));
    harness.commands.group(harness.owner('bag'), {
      name: 'bag',
      description: 'Dice',
      commands: [subcommand({ name: 'throw', description: 'Throws dice', run })],
    });
    register('roll', {
      description: 'Throws dice',
      options: { sides: z.int().default(6).describe('How many sides') },
    });
    await harness.commands.syncAll();
    const commands = [...(harness.app.guildCommands.get(harness.guild.id)?.values() ?? [])];
    const told = (value: object) => ({ description_localizations: value });
    expect(commands[0]).to.deep.include({ description_localizations: null });
    expect(commands[0]?.options?.[0]).to.deep.include(told({ de: 'Wirft Würfel' }));
    expect(commands[1]).to.deep.include(told({ de: 'Wirft Würfel' }));
    expect(commands[1]?.options?.[0]).to.deep.include(told({ de: 'Wie viele Seiten (Vorgabe: 6)' }));
    harness.discord.requests.reset();
    await harness.commands.sync(harness.guild.id, true);
    expect(writes()).to.deep.equal([]);
  });

  it('brings many lists in line at a pace that leaves Discord and the processor to others', async () => {
    for (let index = 0; index < 40; index += 1)
      harness.discord.createGuild({ name: `Guild ${index}`, owner: harness.you }).invite(harness.app);
    await harness.settled();
    register('roll');
    let done = false;
    const all = harness.commands.syncAll().then(() => {
      done = true;
    });
    const rest = () => harness.discord.requests.of('GET', GUILD_LIST).length;
    await harness.discord.settled();
    expect(rest()).to.be.within(20, 40);
    for (let second = 0; second < 10 && !done; second += 1) {
      harness.clock.advance(1_000);
      await harness.discord.settled();
    }
    await all;
    expect(rest()).to.equal(41);
    expect(writes()).to.have.length(42);
  });

  it('distinguishes global commands from a guild’s by their guild_id when one list contains both', async () => {
    register('roll');
    await harness.commands.syncAll();
    const both = [
      ...(harness.app.guildCommands.get(harness.guild.id)?.values() ?? []),
      ...harness.app.globalCommands.values(),
    ];
    const menu = { id: '1', type: 2, name: 'Report', guild_id: harness.guild.id };
    harness.discord.requests.reset();
    for (const route of [GUILD_LIST, '/applications/:applicationId/commands'])
      harness.discord.faults.rest.fail(200, { method: 'GET', route, body: [...both, menu] });
    for (const list of [null, harness.guild.id]) await harness.commands.sync(list, true);
    expect(harness.discord.requests.all).to.have.length(2);
    expect(writes()).to.deep.equal([]);
  });

  it('tries again later when Discord was away', async () => {
    register('roll', { access: { where: 'guild' } });
    harness.discord.faults.rest.fail(503, { method: 'GET', route: GUILD_LIST, times: Number.POSITIVE_INFINITY });
    await harness.commands.syncAll();
    harness.clock.advance(30_000);
    await harness.discord.settled();
    expect(inGuild()).to.deep.equal([]);
    harness.discord.faults.clear();
    harness.clock.advance(30_000);
    await harness.discord.settled();
    expect(inGuild()).to.deep.equal([]);
    harness.clock.advance(30_000);
    await harness.discord.settled();
    expect(inGuild()).to.deep.equal(['roll']);
  });

  it('sends a change to those lists alone that it concerns', async () => {
    register('roll', { access: { where: 'guild' } });
    await harness.commands.syncAll();
    harness.discord.requests.reset();
    register('flip', { access: { where: 'guild' } });
    await harness.commands.syncAll();
    expect(writes().map((request) => request.route)).to.deep.equal([GUILD_LIST]);
    expect(harness.logged.at(-1)?.fields.changes).to.deep.equal(['+flip']);
  });

  it('removes the commands of plugins that are unloaded or switched off', async () => {
    const dice = register('roll');
    register('party', {}, harness.owner('party'));
    await harness.commands.syncAll();
    await dice.scope.close();
    await harness.commands.syncAll();
    expect(inGuild()).to.deep.equal(['party']);
    expect(inDms()).to.deep.equal(['party']);
    harness.disabled.add('party');
    await harness.commands.sync(harness.guild.id);
    expect(inGuild()).to.deep.equal([]);
    expect(inDms()).to.deep.equal(['party']);
  });

  it('leaves context menus alone', async () => {
    await harness.client.application.commands.create({ name: 'Report', type: 3 }, harness.guild.id);
    register('roll');
    await harness.commands.syncAll();
    expect(inGuild()).to.have.members(['Report', 'roll']);
  });

  it('does the same guild once for calls that come together, and once more for calls during it', async () => {
    register('roll');
    await harness.commands.syncAll();
    harness.discord.requests.reset();
    const release = harness.discord.faults.rest.hold({ method: 'GET', route: GUILD_LIST });
    const first = harness.commands.sync(harness.guild.id);
    await harness.discord.settled();
    register('flip');
    const later = [harness.commands.sync(harness.guild.id), harness.commands.sync(harness.guild.id)];
    release();
    await Promise.all([first, ...later]);
    expect(inGuild()).to.have.members(['roll', 'flip']);
    expect(harness.discord.requests.of('GET', GUILD_LIST).length).to.be.at.most(2);
    expect(writes()).to.have.length(1);
  });

  it('goes on with the other guilds when one refuses', async () => {
    const other = harness.discord.createGuild({ name: 'Other', owner: harness.you });
    other.invite(harness.app);
    await harness.settled();
    const path = Routes.applicationGuildCommands(harness.app.id, harness.guild.id);
    harness.discord.faults.rest.fail(403, {
      method: 'GET',
      route: new RegExp(`${path}$`),
      body: { message: 'Missing Access', code: 50001 },
    });
    register('roll');
    await harness.commands.syncAll();
    expect(inGuild()).to.deep.equal([]);
    expect(inGuild(other)).to.deep.equal(['roll']);
    const warning = harness.logged.find((entry) => entry.message === 'slash commands could not be updated');
    expect(warning?.fields.guildId).to.equal(harness.guild.id);
  });

  it('keeps to a hundred commands, and warns once', async () => {
    for (let index = 0; index < 101; index++) register(`c${String(index).padStart(3, '0')}`);
    await harness.commands.syncAll();
    await harness.commands.syncAll();
    expect(inGuild()).to.have.length(100);
    expect(harness.logged.filter((entry) => entry.fields.code === 'CINNABAR_COMMAND_CAP')).to.have.length(1);
    expect(await harness.ask(harness.alice, '!c100 too much')).to.have.length(1);
  });

  it('sends nothing while not logged in', async () => {
    const { service, owner } = offlineCommands();
    service.command(owner('dice'), { name: 'roll', description: 'Rolls', run });
    await service.sync('1');
    await service.syncAll();
    await harness.client.destroy();
    harness.discord.requests.reset();
    register('roll');
    await harness.commands.sync(harness.guild.id);
    expect(harness.discord.requests.all).to.deep.equal([]);
  });
});
