import { type OptionShape, option, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { Attachment, ChannelType } from 'discord.js';
import { createHarness, type Harness } from '../support/harness.js';

/** The values of the command under test, as text. */
function shown(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === 'object' && value !== null ? String(value) : JSON.stringify(value)}`,
    )
    .join(' ');
}

describe('options of prefix commands', () => {
  let harness: Harness;
  before(async () => {
    harness = await createHarness();
    harness.guild.createRole({ name: 'Netrunners' });
  });
  after(() => harness[Symbol.asyncDispose]());

  /** The answer to `!try …` of a command with these options. */
  async function answer(options: OptionShape, typed: string): Promise<string> {
    const owner = harness.owner('try');
    harness.commands.command(owner, {
      name: 'try',
      description: 'Tries',
      options,
      run: (context, values) => context.reply(shown(values) || 'nothing'),
    });
    const [first = 'silence'] = await harness.ask(harness.alice, `!try ${typed}`);
    await owner.scope.close();
    return first;
  }
  const refused = (sentence: string, usage: string, carets?: string) =>
    `${sentence}\n\`\`\`\n!try ${usage}${carets === undefined ? '' : `\n     ${carets}`}\n\`\`\``;

  const sides = { sides: z.int().min(2).max(100) };
  const wrong: readonly (readonly [
    options: OptionShape,
    typed: string,
    sentence: string,
    usage: string,
    carets?: string,
  ])[] = [
    [sides, '1', '`sides` must be at least 2; you gave `1`.', '<sides>', '^^^^^^^'],
    [sides, '101', '`sides` must be at most 100; you gave `101`.', '<sides>', '^^^^^^^'],
    [sides, '', '`sides` is missing.', '<sides>', '^^^^^^^'],
    [sides, 'six', '`sides` must be a whole number; you gave `six`.', '<sides>', '^^^^^^^'],
    [sides, '6.5', '`sides` must be a whole number; you gave `6.5`.', '<sides>', '^^^^^^^'],
    [sides, '6 7', '`7` is too much for this command. Put text with spaces in quotes.', '<sides>'],
    [
      { a: z.string(), b: z.int().default(1) },
      'x y',
      '`b` must be a whole number; you gave `y`.',
      '<a> [b=1]',
      '    ^^^^^',
    ],
    [{ a: z.number().gt(1) }, '1', '`a` must be more than 1; you gave `1`.', '<a>', '^^^'],
    [{ a: z.int().multipleOf(5) }, '7', '`a` must be a multiple of 5; you gave `7`.', '<a>', '^^^'],
    [{ a: z.boolean() }, 'perhaps', '`a` must be yes or no; you gave `perhaps`.', '<a>', '^^^'],
    [{ a: z.string().min(3) }, 'x', '`a` must have at least 3 characters; you gave `x`.', '<a>', '^^^'],
    [{ a: z.string().length(1) }, 'xy', '`a` must have exactly 1 character; you gave `xy`.', '<a>', '^^^'],
    [{ a: z.url() }, 'x', '`a` must be a link; you gave `x`.', '<a>', '^^^'],
    [{ a: z.string().startsWith('v') }, 'x', '`a` must be text that starts with `v`; you gave `x`.', '<a>', '^^^'],
    [{ a: z.string().regex(/^\d+$/) }, 'x', '`a` must be in the form that is asked for; you gave `x`.', '<a>', '^^^'],
    [{ a: z.string().refine(() => false) }, 'x', '`a` is not right; you gave `x`.', '<a>', '^^^'],
    [{ a: z.int().refine((n) => n % 2 === 0, 'must be even') }, '3', '`a`: must be even.', '<a>', '^^^'],
    [
      { a: z.enum(['plain', 'terminal']) },
      'plian',
      '`a` must be one of `plain`, `terminal`; you gave `plian`. Did you mean `plain`?',
      '<plain|terminal>',
      '^^^^^^^^^^^^^^^^',
    ],
    [{ a: option.duration() }, '90', '`a` must be a duration such as `90s` or `1h30m`; you gave `90`.', '<a>', '^^^'],
    [{ a: option.duration().max(60_000) }, '2m', '`a` must be at most 1m; you gave `2m`.', '<a>', '^^^'],
    [{ a: option.member() }, 'nobody', 'There is no member called `nobody` here.', '<a>', '^^^'],
    [{ a: option.member() }, '123456789012345678', 'That user is not a member of this server.', '<a>', '^^^'],
    [{ a: option.member() }, '@', 'There is no member called `@` here.', '<a>', '^^^'],
    [{ a: option.role() }, 'fixers', 'There is no role called `fixers` here.', '<a>', '^^^'],
    [
      { a: option.channel([ChannelType.GuildVoice]) },
      'general',
      'There is no channel called `general` here.',
      '<a>',
      '^^^',
    ],
  ];
  for (const [options, typed, sentence, usage, carets] of wrong) {
    it(`are refused with one sentence and the usage: !try ${typed} → ${sentence}`, async () => {
      expect(await answer(options, typed)).to.equal(refused(sentence, usage, carets));
    });
  }

  it('are echoed so that they cannot become markup', async () => {
    const text = await answer(sides, '"` @everyone\n**x**"');
    expect(text).to.match(/^`sides` must be a whole number; you gave `ˋ @everyone \*\*x\*\*`\.\n/);
    expect(await answer(sides, 'x'.repeat(500))).to.include(`\`${'x'.repeat(60)}…\``);
  });

  const right: readonly (readonly [options: OptionShape, typed: string, values: string])[] = [
    [sides, '20', 'sides=20'],
    [{ a: z.number() }, '-1.5', 'a=-1.5'],
    [{ a: z.boolean(), b: z.boolean() }, 'ON n', 'a=true b=false'],
    [{ a: z.enum(['Plain', 'Terminal']) }, 'TERMINAL', 'a="Terminal"'],
    [{ a: z.literal([4, 6]) }, '6', 'a=6'],
    [{ a: option.duration() }, '1h30m', 'a=5400000'],
    [
      { a: z.string().optional(), b: z.string().nullable(), c: z.string().default('x') },
      '',
      'a=undefined b=null c="x"',
    ],
    [{ a: z.int().transform((n) => n * 2) }, '4', 'a=8'],
    [{ a: z.string().pipe(z.coerce.number()) }, '4', 'a=4'],
    [{ a: z.string().refine(async (text) => text === 'x') }, 'x', 'a="x"'],
  ];
  for (const [options, typed, values] of right) {
    it(`are converted: !try ${typed} → ${values}`, async () => {
      expect(await answer(options, typed)).to.equal(values);
    });
  }

  it('find members by mention, id, user name, display name and nickname', async () => {
    const { you, alice } = harness;
    harness.guild.rename(you, 'Rogue Amendiares');
    for (const typed of [`<@${you.id}>`, `<@!${you.id}>`, you.id, 'you', '@You', '"rogue amendiares"']) {
      expect(await answer({ who: option.member() }, typed), typed).to.equal(`who=<@${you.id}>`);
    }
    expect(await answer({ who: option.user() }, 'Alice')).to.equal(`who=<@${alice.id}>`);
    harness.guild.rename(you, null);
  });

  it('find members whom the bot has not seen yet', async () => {
    const late = harness.discord.createUser({ name: 'latecomer' });
    harness.guild.join(late);
    await harness.settled();
    harness.client.guilds.cache.get(harness.guild.id)?.members.cache.delete(late.id);
    expect(await answer({ who: option.member() }, 'latecomer')).to.equal(`who=<@${late.id}>`);
  });

  it('say whom a name could mean, and prefer the one whose user name it is', async () => {
    const twins = ['panam_p', 'panam_q'].map((name) => harness.discord.createUser({ name, displayName: 'Panam' }));
    for (const twin of twins) harness.guild.join(twin);
    await harness.settled();
    expect(await answer({ who: option.member() }, 'panam')).to.match(
      /^More than one member is called `panam`: `panam_p`, `panam_q`\. Use a mention or an id\./,
    );
    const panam = harness.discord.createUser({ name: 'panam' });
    harness.guild.join(panam);
    await harness.settled();
    expect(await answer({ who: option.member() }, 'panam')).to.equal(`who=<@${panam.id}>`);
  });

  it('find roles and channels by mention, id and name', async () => {
    const [role] = [...harness.guild.roles.values()].filter((one) => one.name === 'Netrunners');
    for (const typed of [`<@&${role?.id}>`, String(role?.id), 'netrunners', '@Netrunners']) {
      expect(await answer({ role: option.role() }, typed), typed).to.equal(`role=<@&${role?.id}>`);
    }
    for (const typed of [`<#${harness.general.id}>`, harness.general.id, 'general', '#General']) {
      expect(await answer({ where: option.channel() }, typed), typed).to.equal(`where=<#${harness.general.id}>`);
    }
  });

  it('refuse a channel of another server, hidden or not', async () => {
    const other = harness.discord.createGuild({ name: 'Other', owner: harness.you });
    other.invite(harness.app);
    const elsewhere = other.createChannel({ name: 'elsewhere' });
    const hidden = harness.discord
      .createGuild({ name: 'Hidden', owner: harness.you })
      .createChannel({ name: 'hidden' });
    await harness.settled();
    for (const { id } of [elsewhere, hidden]) {
      expect(await answer({ where: option.channel() }, id)).to.match(/^That channel is not in this server\./);
    }
  });

  it('take attached files', async () => {
    const owner = harness.owner('files');
    harness.commands.command(owner, {
      name: 'post',
      description: 'Posts',
      options: { picture: option.attachment() },
      run: (context, { picture }) => context.reply(picture instanceof Attachment ? picture.name : 'no file'),
    });
    harness.alice.say(harness.general, '!post', { files: [{ name: 'v.png', data: Buffer.from('x') }] });
    await harness.discord.expectMessage({ content: 'v.png' });
    const [missing] = await harness.ask(harness.alice, '!post');
    expect(missing).to.match(/^`picture` is missing\./);
  });

  it('that belong to a server are refused in direct messages', async () => {
    const owner = harness.owner('dm');
    harness.commands.command(owner, {
      name: 'who',
      description: 'Who',
      options: { who: option.member() },
      run: (context) => context.reply('?'),
    });
    const [text] = await harness.ask(harness.alice, '!who alice', harness.alice.openDm(harness.app));
    expect(text).to.match(/^`who` must be a member of a server, and this is a direct message\./);
  });
});
