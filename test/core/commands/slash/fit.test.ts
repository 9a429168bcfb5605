import { type CommandDefinition, type GroupDefinition, option, subcommand, subgroup, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ChannelType, ApplicationCommandOptionType as Type } from 'discord.js';
import { toldToDiscord } from '../support/harness.js';

const run = () => undefined;
const command = (definition: Partial<CommandDefinition> = {}): CommandDefinition => ({
  name: 'roll',
  description: 'Rolls',
  run,
  ...definition,
});
const group = (definition: Partial<GroupDefinition> & Pick<GroupDefinition, 'commands'>): GroupDefinition => ({
  name: 'bag',
  description: 'Dice',
  ...definition,
});

function optionOf(schema: z.ZodType) {
  const [payload] = toldToDiscord([command({ options: { thing: schema } })]).payloads;
  return payload?.options?.[0];
}
const text = { type: Type.String, name: 'thing', description: 'thing', required: true };

describe('the commands as Discord receives them', () => {
  const options: readonly (readonly [what: string, schema: z.ZodType, payload: object])[] = [
    ['text with its length', z.string().min(2).max(20), { ...text, min_length: 2, max_length: 20 }],
    ['the rest of a message', option.rest(), { ...text, min_length: 1 }],
    [
      'a whole number with its bounds',
      z.int().min(2).max(9),
      { ...text, type: Type.Integer, min_value: 2, max_value: 9 },
    ],
    ['a number', z.number().min(0.5), { ...text, type: Type.Number, min_value: 0.5 }],
    ['yes or no', z.boolean(), { ...text, type: Type.Boolean }],
    ['a member', option.member(), { ...text, type: Type.User }],
    ['a role', option.role(), { ...text, type: Type.Role }],
    ['a file', option.attachment(), { ...text, type: Type.Attachment }],
    ['a duration', option.duration().max(60_000), text],
    [
      'a channel of a kind',
      option.channel([ChannelType.GuildText]),
      { ...text, type: Type.Channel, channel_types: [ChannelType.GuildText] },
    ],
    [
      'choices',
      z.enum(['a', 'b']),
      {
        ...text,
        choices: [
          { name: 'a', value: 'a' },
          { name: 'b', value: 'b' },
        ],
      },
    ],
    ['suggestions', option.suggested(() => []), { ...text, min_length: 1, autocomplete: true }],
    [
      'a default, in the description',
      z.int().default(6).describe('how many sides'),
      { type: Type.Integer, name: 'thing', description: 'how many sides (default: 6)', required: false },
    ],
  ];
  for (const [what, schema, payload] of options) {
    it(`contains ${what}`, () => {
      expect(optionOf(schema)).to.deep.equal(payload);
    });
  }

  it('suggests choices that are more than Discord lists', () => {
    const many = z.enum(Array.from({ length: 26 }, (_, index) => `choice${index}`));
    expect(optionOf(many)).to.deep.equal({ ...text, autocomplete: true });
  });

  it('nests the commands of groups', () => {
    const [payload] = toldToDiscord(
      [
        group({
          commands: [
            subcommand({ name: 'open', description: 'Opens', run }),
            subgroup({
              name: 'die',
              description: 'One die',
              commands: [subcommand({ name: 'add', description: 'Adds', options: { sides: z.int() }, run })],
            }),
          ],
        }),
      ],
      'guild',
    ).payloads;
    expect(payload?.options).to.deep.equal([
      { type: Type.Subcommand, name: 'open', description: 'Opens', options: [] },
      {
        type: Type.SubcommandGroup,
        name: 'die',
        description: 'One die',
        options: [
          {
            type: Type.Subcommand,
            name: 'add',
            description: 'Adds',
            options: [{ type: Type.Integer, name: 'sides', description: 'sides', required: true }],
          },
        ],
      },
    ]);
  });

  it('tells a guild which permissions a member needs, and keeps owners’ commands out of sight', () => {
    const permissions = (access: CommandDefinition['access']) =>
      toldToDiscord([command(access === undefined ? {} : { access })], 'guild').payloads[0]?.default_member_permissions;
    expect(permissions({ member: ['KickMembers', 'BanMembers'] })).to.equal('6');
    expect(permissions({ tier: 'botOwner' })).to.equal('0');
    expect(permissions(undefined)).to.equal(null);
  });

  it('lists each command where it can be used, and prefix commands nowhere', () => {
    const roots = [
      command({ name: 'both' }),
      command({ name: 'guild-only', access: { where: 'guild' } }),
      command({ name: 'dm-only', access: { where: 'dm' } }),
      command({ name: 'typed', surface: 'prefix' }),
      group({ commands: [subcommand({ name: 'typed', description: 'Typed', surface: 'prefix', run })] }),
    ];
    const names = (scope: 'guild' | 'dm') => toldToDiscord(roots, scope).payloads.map((payload) => payload.name);
    expect(names('guild')).to.deep.equal(['both', 'guild-only']);
    expect(names('dm')).to.deep.equal(['both', 'dm-only']);
    expect(toldToDiscord(roots, 'dm').payloads[0]).to.deep.include({ contexts: [1], integration_types: [0] });
  });

  it('keeps the first hundred by name, and says what is left out', () => {
    const names = Array.from({ length: 103 }, (_, index) => `c${String(index).padStart(3, '0')}`);
    const roots = names.toReversed().map((name) => command({ name }));
    const { payloads, overflow } = toldToDiscord(roots, 'guild');
    expect(payloads.map((payload) => payload.name)).to.deep.equal(names.slice(0, 100));
    expect(overflow.map((error) => error.message)).to.deep.equal([
      'Discord allows 100 chat input commands; 103 are declared. Left out of the slash menu: c100, c101, c102.',
    ]);
  });

  it('keeps the first twenty-five commands of a group', () => {
    const commands = Array.from({ length: 27 }, (_, i) => subcommand({ name: `c${i}`, description: 'One', run }));
    const { payloads, overflow } = toldToDiscord([group({ commands })], 'guild');
    expect(payloads[0]?.options?.map((one) => one.name)).to.deep.equal(commands.slice(0, 25).map((one) => one.name));
    expect(overflow.map((error) => error.params.names)).to.deep.equal(['bag c25, bag c26']);
  });

  it('leaves commands of a group out until it has at most 8000 characters', () => {
    const choices = z.enum(Array.from({ length: 25 }, (_, index) => `${index}`.padStart(60, 'x')));
    const commands = Array.from({ length: 4 }, (_, index) =>
      subcommand({ name: `c${index}`, description: 'One', options: { a: choices }, run }),
    );
    const { payloads, overflow } = toldToDiscord([group({ commands })], 'guild');
    expect(payloads[0]?.options?.map((one) => one.name)).to.deep.equal(['c0', 'c1']);
    expect(overflow.map((error) => error.params.names)).to.deep.equal(['bag c2, bag c3']);
  });
});
