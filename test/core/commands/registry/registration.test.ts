import { CinnabarError, type CommandDefinition, option, subcommand, subgroup, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { offlineCommands } from '../support/harness.js';

const run = () => undefined;
const base = { name: 'roll', description: 'Rolls a die', run };

/** The error for an invalid declaration. */
function refusal(register: () => unknown): string {
  try {
    register();
  } catch (error) {
    if (error instanceof CinnabarError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('It was not refused.');
}

function refusalOf(definition: CommandDefinition): string {
  const { service, owner } = offlineCommands();
  return refusal(() => service.command(owner('dice'), definition));
}

describe('registering commands', () => {
  it('lists a command with what its declaration says', () => {
    const { service, owner } = offlineCommands();
    service.command(owner('dice'), {
      ...base,
      aliases: ['r'],
      help: 'The long story.',
      examples: ['roll 20'],
      access: { tier: 'mod' },
      options: { sides: z.int().min(2).describe('how many sides'), times: z.int().default(1) },
    });
    expect(service.all()).to.deep.equal([
      {
        plugin: 'dice',
        name: 'roll',
        aliases: ['r'],
        description: 'Rolls a die',
        help: 'The long story.',
        usage: '<sides> [times=1]',
        options: [
          { name: 'sides', description: 'how many sides', required: true, type: 'whole number of at least 2' },
          { name: 'times', description: 'times', required: false, type: 'whole number' },
        ],
        examples: ['roll 20'],
        access: { tier: 'mod' },
        surface: 'both',
      },
    ]);
  });

  it('lists the commands of groups by their full names, with what the groups ask for', () => {
    const { service, owner } = offlineCommands();
    service.group(owner('admin'), {
      name: 'config',
      description: 'Configures',
      aliases: ['cfg'],
      access: { tier: 'admin', where: 'guild', member: ['ManageGuild'] },
      commands: [
        subcommand({ name: 'show', description: 'Shows', aliases: ['s'], run }),
        subgroup({
          name: 'channel',
          description: 'Channels',
          access: { member: ['ManageChannels'] },
          commands: [subcommand({ name: 'set', description: 'Sets', access: { tier: 'mod' }, run })],
        }),
      ],
    });
    const [show, set] = service.all();
    expect(show?.name).to.equal('config show');
    expect(show?.aliases).to.have.members(['cfg show', 'config s', 'cfg s']);
    expect(set?.name).to.equal('config channel set');
    expect(set?.access).to.deep.equal({ tier: 'admin', where: 'guild', member: ['ManageGuild', 'ManageChannels'] });
  });

  it('is an effect of the owner’s scope, and leaves nothing when that closes', async () => {
    const { service, owner } = offlineCommands();
    const dice = owner('dice');
    service.command(dice, { ...base, aliases: ['r'] });
    service.group(dice, { name: 'bag', description: 'Dice', commands: [subcommand({ ...base, name: 'open' })] });
    expect(dice.scope.effects).to.deep.equal(['command roll', 'group bag']);

    await dice.scope.close();

    expect(service.all()).to.deep.equal([]);
    service.command(owner('other'), { ...base, aliases: ['r', 'bag'] });
  });

  it('can be taken back early, once', async () => {
    const { service, owner } = offlineCommands();
    const dispose = service.command(owner('dice'), base);
    await dispose();
    service.command(owner('other'), base);
    await dispose();
    expect(service.all().map((info) => info.plugin)).to.deep.equal(['other']);
  });

  it('refuses to register for a plugin that has stopped', async () => {
    const { service, owner } = offlineCommands();
    const dice = owner('dice');
    await dice.scope.close();
    expect(refusal(() => service.command(dice, base))).to.match(/^CINNABAR_SCOPE_CLOSED/);
    expect(service.all()).to.deep.equal([]);
  });

  it('refuses a name that is taken, also by an alias, and says by whom', () => {
    const { service, owner } = offlineCommands();
    service.command(owner('dice'), { ...base, aliases: ['r'] });
    const other = owner('other');
    expect(refusal(() => service.command(other, base))).to.equal(
      'CINNABAR_NAME_TAKEN: The command "roll" is already registered by the plugin "dice".',
    );
    expect(refusal(() => service.command(other, { ...base, name: 'r' }))).to.match(/^CINNABAR_NAME_TAKEN/);
    expect(refusal(() => service.command(other, { ...base, name: 'x', aliases: ['roll'] }))).to.match(/NAME_TAKEN/);
    expect(other.scope.effects).to.deep.equal([]);
  });

  it('refuses two commands of one name in a group', () => {
    const { service, owner } = offlineCommands();
    const commands = [subcommand({ ...base, name: 'a' }), subcommand({ ...base, name: 'b', aliases: ['a'] })];
    expect(refusal(() => service.group(owner('dice'), { name: 'bag', description: 'Dice', commands }))).to.equal(
      'CINNABAR_NAME_TAKEN: The command "bag a" is already registered by the plugin "dice".',
    );
  });

  const invalid: readonly (readonly [what: string, definition: CommandDefinition, said: RegExp])[] = [
    ['upper case', { ...base, name: 'Roll' }, /"Roll" is not allowed: use lower case: `roll`/],
    ['spaces', { ...base, name: 'roll it' }, /use 1 to 32 letters, digits, `-` and `_`/],
    ['a long name', { ...base, name: 'r'.repeat(33) }, /1 to 32/],
    ['an empty name', { ...base, name: '' }, /1 to 32/],
    ['a bad alias', { ...base, aliases: ['r!'] }, /"r!" is not allowed/],
    ['no description', { ...base, description: '' }, /"roll" is not allowed: its description is empty/],
    ['a long description', { ...base, description: 'x'.repeat(101) }, /has 101 characters, and Discord allows 100/],
    ['a bad option name', { ...base, options: { maxSides: z.int() } }, /"roll maxSides" .* use lower case: `maxsides`/],
    ['a long option description', { ...base, options: { a: z.int().describe('x'.repeat(101)) } }, /101 characters/],
    [
      'required after optional',
      { ...base, options: { times: z.int().default(1), sides: z.int() } },
      /"roll sides" .* it is required but comes after the optional `times`/,
    ],
    [
      'a rest that is not last',
      { ...base, options: { text: option.rest(), times: z.int().optional() } },
      /"roll text" .* so it must come last/,
    ],
    ['an option nobody can type', { ...base, options: { a: z.object({}) } }, /a member cannot type such a value/],
    [
      'too many options',
      { ...base, options: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`o${i}`, z.string()])) },
      /it has 26 options, and Discord allows 25/,
    ],
  ];
  for (const [what, definition, said] of invalid) {
    it(`refuses ${what} and says what is wrong`, () => {
      const sentence = refusalOf(definition);
      expect(sentence).to.match(/^CINNABAR_NAME_INVALID/);
      expect(sentence).to.match(said);
    });
  }

  it('refuses a group without commands, and contradictions between a group and its commands', () => {
    const { service, owner } = offlineCommands();
    const group = { name: 'bag', description: 'Dice' };
    const dice = owner('dice');
    expect(refusal(() => service.group(dice, { ...group, commands: [] }))).to.match(/it has no commands/);
    const dm = subcommand({ ...base, access: { where: 'dm' } });
    expect(refusal(() => service.group(dice, { ...group, access: { where: 'guild' }, commands: [dm] }))).to.match(
      /it is for dm only, inside a group that is for guild only/,
    );
    const slash = subcommand({ ...base, surface: 'slash' });
    expect(refusal(() => service.group(dice, { ...group, surface: 'prefix', commands: [slash] }))).to.match(
      /its surface is slash, inside a group whose surface is prefix/,
    );
  });

  it('finds names that are near, the nearest first, and nothing for what is far', () => {
    const { service, owner } = offlineCommands();
    const dice = owner('dice');
    for (const name of ['roll', 'rolls', 'poll', 'reload', 'ping']) service.command(dice, { ...base, name });
    expect(service.similar('rollz', service.all())).to.deep.equal(['roll', 'rolls']);
    expect(service.similar('rol', service.all())).to.deep.equal(['roll']);
    expect(service.similar('relaod', service.all())).to.deep.equal(['reload']);
    expect(service.similar('play', service.all())).to.deep.equal([]);
    expect(service.similar('x', service.all())).to.deep.equal([]);
  });
});
