import { expect } from 'chai';
import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  type Client,
  PermissionFlagsBits,
  SlashCommandBuilder,
} from 'discord.js';
import { codeOf, handClock, type NightCity, nightCity, refusal } from './support.js';

describe('local Discord: application commands', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  const roll = { name: 'roll', description: 'Roll dice' };

  it('creates, reads, edits and deletes global and guild commands apart from each other', async () => {
    const { commands } = client.application;
    const global = await commands.create(roll);
    const local = await commands.create({ ...roll, description: 'Here' }, city.guild.id);
    expect(global.id).not.to.equal(local.id);
    expect((await commands.fetch()).map(({ description }) => description)).to.deep.equal(['Roll dice']);
    expect((await commands.fetch({ guildId: city.guild.id })).map(({ description }) => description)).to.deep.equal([
      'Here',
    ]);

    expect((await commands.edit(global, { description: 'Roll them' })).description).to.equal('Roll them');
    await commands.delete(global);
    expect((await commands.fetch()).size).to.equal(0);
    await refusal(commands.fetch(global.id, { force: true }), 10063);
  });

  it('overwrites the command of the same name, which keeps its id', async () => {
    const { commands } = client.application;
    const first = await commands.create(roll);
    const second = await commands.create({ ...roll, description: 'Again' });
    expect(second.id).to.equal(first.id);
    const set = await commands.set([
      { ...roll, description: 'Thrice' },
      { name: 'other', description: 'x' },
    ]);
    expect(set.find(({ name }) => name === 'roll')?.id).to.equal(first.id);
    expect((await commands.set([])).size).to.equal(0);
  });

  it('holds to the caps of 100 slash, 5 user and 5 message commands', async () => {
    const { commands } = client.application;
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `c${index}`, description: 'x' }));
    await commands.set(many(100));
    await refusal(commands.create(roll), 30032);
    await refusal(client.rest.put(`/applications/${city.app.id}/commands`, { body: many(101) }), 30032);
    await refusal(
      client.rest.put(`/applications/${city.app.id}/commands`, {
        body: many(6).map(({ name }) => ({ name, type: ApplicationCommandType.User })),
      }),
      30032,
    );
    expect((await commands.fetch()).size).to.equal(100);
  });

  it('allows 200 creations a day; overwriting what is there costs none', async () => {
    const { commands } = client.application;
    const named = (prefix: string) =>
      Array.from({ length: 100 }, (_, index) => ({ name: `${prefix}${index}`, description: 'x' }));
    await commands.set(named('a'));
    await commands.set(named('a'));
    await commands.set(named('b'));
    await refusal(
      client.rest.put(`/applications/${city.app.id}/commands`, { body: [{ name: 'c', description: 'x' }] }),
      30034,
    );
    clock.advance(24 * 3_600_000);
    await commands.set([{ name: 'c', description: 'x' }]);
  });

  it('refuses malformed commands with the path to what is wrong', async () => {
    const post = (body: object) => client.rest.post(`/applications/${city.app.id}/commands`, { body });
    const text = (name: string, extra: object = {}) => ({ type: 3, name, description: 'x', ...extra });
    const cases: [body: object, path: string, code: string][] = [
      [{ name: 'Upper Case', description: 'x' }, 'errors.name', 'APPLICATION_COMMAND_INVALID_NAME'],
      [{ name: 'x' }, 'errors.description', 'BASE_TYPE_REQUIRED'],
      [{ name: 'x', description: 'y'.repeat(101) }, 'errors.description', 'BASE_TYPE_MAX_LENGTH'],
      [
        { ...roll, options: [text('a'), text('a')] },
        'errors.options.1',
        'APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS',
      ],
      [
        { ...roll, options: [text('a'), text('b', { required: true })] },
        'errors.options.1',
        'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID',
      ],
      [{ ...roll, options: [text('A b')] }, 'errors.options.0.name', 'APPLICATION_COMMAND_INVALID_NAME'],
      [
        { ...roll, options: Array.from({ length: 26 }, (_, index) => text(`o${index}`)) },
        'errors.options',
        'BASE_TYPE_BAD_LENGTH',
      ],
    ];
    for (const [body, path, code] of cases) {
      const { rawError } = await refusal(post(body), 50035);
      expect(rawError, path).to.have.nested.property(`${path}._errors[0].code`, code);
    }
    await refusal(client.rest.put(`/applications/${city.app.id}/commands`, { body: [roll, roll] }), 50035);
  });

  it('offers a command only where, and to whom, it is allowed', async () => {
    const { alice, guild, general, you } = city;
    await client.application.commands.set([
      new SlashCommandBuilder()
        .setName('mods')
        .setDescription('x')
        .setDefaultMemberPermissions(PermissionFlagsBits.ManageMessages),
    ]);
    expect(codeOf(() => alice.slash(general, 'mods'))).to.equal(50013);
    you.slash(general, 'mods');
    guild.overwrite(general, { for: guild.everyone, deny: ['UseApplicationCommands'] });
    guild.giveRole(alice, guild.createRole({ name: 'Mods', permissions: ['ManageMessages'] }));
    expect(codeOf(() => alice.slash(general, 'mods'))).to.equal(50013);
    expect(() => alice.slash(general, 'mod')).to.throw('No command "mod" here; there are: mods.');
  });

  it('checks options before they are sent, as the Discord client does', async () => {
    const { alice, general } = city;
    const sides = {
      type: ApplicationCommandOptionType.Integer as const,
      name: 'sides',
      description: 'x',
      required: true,
      minValue: 2,
      maxValue: 100,
    };
    await client.application.commands.set([{ ...roll, options: [sides] }]);
    expect(() => alice.slash(general, 'roll')).to.throw('"sides" is required');
    expect(() => alice.slash(general, 'roll', { sides: 1 })).to.throw('"sides" must be from 2 to 100');
    expect(() => alice.slash(general, 'roll', { sides: 2.5 })).to.throw('whole number');
    expect(() => alice.slash(general, 'roll', { side: 6 })).to.throw('No option "side"; there are: sides.');
  });
});
