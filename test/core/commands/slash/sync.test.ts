import { fileURLToPath } from 'node:url';
import { type CommandDefinition, option, subcommand, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { Routes } from 'discord.js';
import { type Bench, createBench, offlineRoom } from '../support/bench.js';

const run = () => undefined;
const GUILD_LIST = '/applications/:applicationId/guilds/:guildId/commands';

describe('slash sync', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const register = (name: string, more: Partial<CommandDefinition> = {}, owner = bench.owner('dice')) => {
    bench.commands.command(owner, { name, description: 'A command', run, ...more });
    return owner;
  };
  const namesOf = (commands: Iterable<{ readonly name: string }> | undefined) =>
    [...(commands ?? [])].map((one) => one.name);
  const inGuild = (guild = bench.guild) => namesOf(bench.app.guildCommands.get(guild.id)?.values());
  const inDms = () => namesOf(bench.app.globalCommands.values());
  const writes = () => bench.discord.requests.all.filter((request) => request.method === 'PUT');

  it('puts commands where they can be used', async () => {
    register('both');
    register('guild-only', { access: { where: 'guild' } });
    register('dm-only', { access: { where: 'dm' } });
    await bench.commands.syncAll();
    expect(inGuild()).to.have.members(['both', 'guild-only']);
    expect(inDms()).to.have.members(['both', 'dm-only']);
  });

  it('makes no request without a change, and sends nothing after a comparison, with any fields that Discord adds', async () => {
    bench.commands.group(bench.owner('bag'), {
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
    await bench.commands.syncAll();
    bench.discord.requests.reset();
    await bench.commands.syncAll();
    expect(bench.discord.requests.all).to.deep.equal([]);
    await bench.commands.sync(bench.guild.id, true);
    expect(bench.discord.requests.of('GET', GUILD_LIST)).to.have.length(1);
    expect(writes()).to.deep.equal([]);
  });

  it('sends descriptions in the languages that there are catalogues for, and nothing when it looks again', async () => {
    bench.catalogues.push(fileURLToPath(new URL('../../../../fixtures/languages/commands', import.meta.url)));
    bench.commands.group(bench.owner('bag'), {
      name: 'bag',
      description: 'Dice',
      commands: [subcommand({ name: 'throw', description: 'Throws dice', run })],
    });
    register('roll', {
      description: 'Throws dice',
      options: { sides: z.int().default(6).describe('How many sides') },
    });
    await bench.commands.syncAll();
    const commands = [...(bench.app.guildCommands.get(bench.guild.id)?.values() ?? [])];
    const told = (value: object) => ({ description_localizations: value });
    expect(commands[0]).to.deep.include({ description_localizations: null });
    expect(commands[0]?.options?.[0]).to.deep.include(told({ de: 'Wirft Würfel' }));
    expect(commands[1]).to.deep.include(told({ de: 'Wirft Würfel' }));
    expect(commands[1]?.options?.[0]).to.deep.include(told({ de: 'Wie viele Seiten (Vorgabe: 6)' }));
    bench.discord.requests.reset();
    await bench.commands.sync(bench.guild.id, true);
    expect(writes()).to.deep.equal([]);
  });

  it('brings many lists in line at a pace that leaves Discord and the processor to others', async () => {
    for (let index = 0; index < 40; index += 1)
      bench.discord.createGuild({ name: `Guild ${index}`, owner: bench.you }).invite(bench.app);
    await bench.settled();
    register('roll');
    let done = false;
    const all = bench.commands.syncAll().then(() => {
      done = true;
    });
    const rest = () => bench.discord.requests.of('GET', GUILD_LIST).length;
    await bench.discord.settled();
    expect(rest()).to.be.within(20, 40);
    for (let second = 0; second < 10 && !done; second += 1) {
      bench.clock.advance(1_000);
      await bench.discord.settled();
    }
    await all;
    expect(rest()).to.equal(41);
    expect(writes()).to.have.length(42);
  });

  it('distinguishes global commands from a guild’s by their guild_id when one list contains both', async () => {
    register('roll');
    await bench.commands.syncAll();
    const both = [
      ...(bench.app.guildCommands.get(bench.guild.id)?.values() ?? []),
      ...bench.app.globalCommands.values(),
    ];
    const menu = { id: '1', type: 2, name: 'Report', guild_id: bench.guild.id };
    bench.discord.requests.reset();
    for (const route of [GUILD_LIST, '/applications/:applicationId/commands'])
      bench.discord.faults.rest.fail(200, { method: 'GET', route, body: [...both, menu] });
    for (const list of [null, bench.guild.id]) await bench.commands.sync(list, true);
    expect(bench.discord.requests.all).to.have.length(2);
    expect(writes()).to.deep.equal([]);
  });

  it('tries again later when Discord was away', async () => {
    register('roll', { access: { where: 'guild' } });
    bench.discord.faults.rest.fail(503, { method: 'GET', route: GUILD_LIST, times: Number.POSITIVE_INFINITY });
    await bench.commands.syncAll();
    bench.clock.advance(30_000);
    await bench.discord.settled();
    expect(inGuild()).to.deep.equal([]);
    bench.discord.faults.clear();
    bench.clock.advance(30_000);
    await bench.discord.settled();
    expect(inGuild()).to.deep.equal([]);
    bench.clock.advance(30_000);
    await bench.discord.settled();
    expect(inGuild()).to.deep.equal(['roll']);
  });

  it('sends a change to those lists alone that it concerns', async () => {
    register('roll', { access: { where: 'guild' } });
    await bench.commands.syncAll();
    bench.discord.requests.reset();
    register('flip', { access: { where: 'guild' } });
    await bench.commands.syncAll();
    expect(writes().map((request) => request.route)).to.deep.equal([GUILD_LIST]);
    expect(bench.logged.at(-1)?.fields.changes).to.deep.equal(['+flip']);
  });

  it('removes the commands of plugins that are unloaded or switched off', async () => {
    const dice = register('roll');
    register('party', {}, bench.owner('party'));
    await bench.commands.syncAll();
    await dice.scope.close();
    await bench.commands.syncAll();
    expect(inGuild()).to.deep.equal(['party']);
    expect(inDms()).to.deep.equal(['party']);
    bench.disabled.add('party');
    await bench.commands.sync(bench.guild.id);
    expect(inGuild()).to.deep.equal([]);
    expect(inDms()).to.deep.equal(['party']);
  });

  it('leaves context menus alone', async () => {
    await bench.client.application.commands.create({ name: 'Report', type: 3 }, bench.guild.id);
    register('roll');
    await bench.commands.syncAll();
    expect(inGuild()).to.have.members(['Report', 'roll']);
  });

  it('does the same guild once for calls that come together, and once more for calls during it', async () => {
    register('roll');
    await bench.commands.syncAll();
    bench.discord.requests.reset();
    const release = bench.discord.faults.rest.hold({ method: 'GET', route: GUILD_LIST });
    const first = bench.commands.sync(bench.guild.id);
    await bench.discord.settled();
    register('flip');
    const later = [bench.commands.sync(bench.guild.id), bench.commands.sync(bench.guild.id)];
    release();
    await Promise.all([first, ...later]);
    expect(inGuild()).to.have.members(['roll', 'flip']);
    expect(bench.discord.requests.of('GET', GUILD_LIST).length).to.be.at.most(2);
    expect(writes()).to.have.length(1);
  });

  it('goes on with the other guilds when one refuses', async () => {
    const other = bench.discord.createGuild({ name: 'Other', owner: bench.you });
    other.invite(bench.app);
    await bench.settled();
    const path = Routes.applicationGuildCommands(bench.app.id, bench.guild.id);
    bench.discord.faults.rest.fail(403, {
      method: 'GET',
      route: new RegExp(`${path}$`),
      body: { message: 'Missing Access', code: 50001 },
    });
    register('roll');
    await bench.commands.syncAll();
    expect(inGuild()).to.deep.equal([]);
    expect(inGuild(other)).to.deep.equal(['roll']);
    const warning = bench.logged.find((entry) => entry.message === 'slash commands could not be updated');
    expect(warning?.fields.guildId).to.equal(bench.guild.id);
  });

  it('keeps to a hundred commands, and warns once', async () => {
    for (let index = 0; index < 101; index++) register(`c${String(index).padStart(3, '0')}`);
    await bench.commands.syncAll();
    await bench.commands.syncAll();
    expect(inGuild()).to.have.length(100);
    expect(bench.logged.filter((entry) => entry.fields.code === 'CINNABAR_COMMAND_CAP')).to.have.length(1);
    expect(await bench.ask(bench.alice, '!c100 too much')).to.have.length(1);
  });

  it('sends nothing while not logged in', async () => {
    const { room, owner } = offlineRoom();
    room.command(owner('dice'), { name: 'roll', description: 'Rolls', run });
    await room.sync('1');
    await room.syncAll();
    await bench.client.destroy();
    bench.discord.requests.reset();
    register('roll');
    await bench.commands.sync(bench.guild.id);
    expect(bench.discord.requests.all).to.deep.equal([]);
  });
});
