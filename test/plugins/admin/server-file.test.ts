import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalRole, LocalUser } from '@cinnabar/local-discord';
import { definePlugin, GuildFiles, option, PersonalDataStore, Plugins, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { answering } from './harness.js';

const shop = definePlugin({
  manifest: { id: 'shop', version: '1.0.0', description: 'Sells', enabledByDefault: false },
  settings: {
    guild: z.object({
      greeting: z.string().max(40).default('Hi').describe('What is said'),
      most: z.int().min(1).max(20).default(5).describe('The most items'),
      closes: option.duration().optional().describe('When it closes'),
      staff: z
        .array(z.string().meta({ kind: 'role' }))
        .default([])
        .describe('Who sells'),
      counter: z.string().meta({ kind: 'channel' }).optional().describe('Where'),
      key: z.string().meta({ secret: true }).optional().describe('Key of the till'),
    }),
    channel: z.object({ open: z.boolean().default(true).describe('Whether it is open here') }),
  },
  setup({ tool }) {
    tool({ name: 'sell', description: 'Sell something', input: z.object({}), risk: 'write', run: () => 'sold' });
  },
});

describe('admin: the file of a server', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  let fixers: LocalRole;

  before(async () => {
    host = await createTestHost({ plugins: ['admin', shop] });
    say = answering(host);
    fixers = host.guild.createRole({ name: 'Fixers' });
    host.guild.createRole({ name: 'Twins' });
    host.guild.createRole({ name: 'twins' });
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());

  const give = async (command: string, content: string) => {
    const before = host.general.messages.length;
    host.you.say(host.general, `!server ${command}`, { files: [{ name: 'server.yaml', data: Buffer.from(content) }] });
    await host.settled();
    return host.general.messages
      .slice(before + 1)
      .map((message) => message.content)
      .join('\n');
  };
  const press = async (label: string) => {
    const asked = host.general.messages.at(-1);
    if (asked !== undefined) host.you.click(asked, label);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  const exported = () => host.resolve(GuildFiles).export(host.guild.id);

  it('is planned, applied after a question in one step, audited, and taken back', async () => {
    const before = await exported();
    const yaml = [
      'plugins: { shop: on }',
      'prefixes: ["!", "?"]',
      'roles: { mod: [Fixers] }',
      'rules:',
      '  - { effect: deny, command: party, role: Fixers }',
      'tools: { sell: deny }',
      'settings:',
      `  shop: { most: 7, closes: 1h30m, staff: [Fixers], counter: "#${host.general.name}" }`,
      `channels: { shop: { "${host.general.name}": { open: false } } }`,
    ].join('\n');
    const plan = await give('plan', yaml);
    expect(plan).to.match(/^10 changes: \+ is added/);
    expect(plan).to.include('plugins.shop: on');
    expect(plan).to.include('settings.shop.closes: 5400000').and.to.include('(Fixers)');
    expect(await exported()).to.equal(before);

    await give('apply', yaml);
    expect(await press('Apply it')).to.equal('Done: 10 changes. `server undo` takes it back.');
    expect(host.resolve(Plugins).enabledIn(host.guild.id, 'shop')).to.equal(true);
    expect(await say(host.you, '?prefix show')).to.include('`!`, `?`');
    expect(await say(host.you, '!roles list')).to.include(`Moderators: <@&${fixers.id}>`);
    expect(await say(host.you, '!set shop most')).to.include('`most` = `7`');
    expect(await say(host.you, '!tool policy sell')).to.include('deny');
    const audit = await say(host.you, '!audit 50');
    expect(audit.match(/server apply: /g)).to.have.length(1);
    expect(audit).to.include('plugins.shop: on');

    const file = await exported();
    expect(file).to.include(`- "${fixers.id}" # Fixers`).and.to.include('closes: 1h30m');
    expect(await give('plan', file)).to.equal('There is nothing to change: everything is as the file says.');

    await say(host.you, '!server undo');
    await press('Apply it');
    expect(await exported()).to.equal(before);
  });

  it('keeps settings that are not in the file, and resets entries that a section no longer names', async () => {
    await say(host.you, '!set shop greeting Hello');
    await say(host.you, '!set shop most 9');
    await say(host.you, '!tool policy sell confirm');
    expect(await give('plan', 'settings: { shop: { most: 9 } }')).to.match(
      /^1 change: [^\n]*\n\S*- settings.shop.greeting: Hello$/,
    );
    await say(host.you, '!unset shop');
    await say(host.you, '!tool policy sell default');
  });

  it('names every line that cannot be used, and changes nothing', async () => {
    const answer = await give(
      'apply',
      [
        'plugins:',
        '  shoop: on',
        '  admin: off',
        'roles:',
        '  mod: [Twins, Nomads, 123456789012345678]',
        'tools: { sell: maybe }',
      ].join('\n'),
    );
    expect(answer).to.include('line 5: roles.mod.2: names are text, and ids stand in quotes');
    expect(answer).to.include('line 6: tools.sell');
    const second = await give(
      'apply',
      [
        'plugins:',
        '  shoop: on',
        '  admin: off',
        'roles:',
        '  mod: [Twins, Nomads]',
        'settings:',
        '  shop:',
        '    most: 50',
        '    key: hunter2',
        '    greting: Hi',
        'rules: [{ effect: deny, tool: sell }]',
        'channels: { shop: { "999999999999999999": { open: false } } }',
      ].join('\n'),
    );
    expect(second.split('\n').slice(1)).to.deep.equal([
      'line 2: plugins.shoop: there is no such plugin; did you mean shop?',
      'line 3: plugins.admin: it cannot be switched off',
      'line 5: roles.mod.0: several of this server are called "twins": use an id, in quotes',
      'line 5: roles.mod.1: there is no role called "nomads" in this server',
      'line 8: settings.shop.most: it has to be: whole number from 1 to 20',
      'line 9: settings.shop.key: it is secret: secrets are not kept in files',
      'line 10: settings.shop.greting: there is no such key; did you mean greeting?',
      'line 11: rules.0: a rule names one of user, role, channel, category, everyone',
      'line 12: channels.shop.999999999999999999: this server has no such channel',
    ]);
    expect(await say(host.you, '!audit 3')).to.not.include('server apply: \\+');
  });

  it('takes no role or channel of another server into a setting, and says no more of it than that', async () => {
    const other = host.discord.createGuild({ name: 'Elsewhere', owner: host.bob });
    other.invite(host.application);
    const theirs = other.createChannel({ name: 'vault' });
    const role = other.createRole({ name: 'Guards' });
    await host.settled();
    const answer = await give('apply', `settings:\n  shop:\n    counter: "${theirs.id}"\n    staff: ["${role.id}"]`);
    expect(answer.split('\n').slice(1)).to.deep.equal([
      'line 3: settings.shop.counter: this server has no such channel',
      'line 4: settings.shop.staff: this server has no such role',
    ]);
    expect(await say(host.you, `!set shop counter ${theirs.id}`)).to.include('this server has no such channel');
    expect(await say(host.you, `!set shop staff ${role.id}`)).to.include('this server has no such role');
    expect(await say(host.you, `!set shop staff ${fixers.id}`)).to.include(fixers.id);
    await say(host.you, '!unset shop guild');
    await press('Take them back');
  });

  it('names the first of very many mistakes, and takes no more tool policies than there can be', async () => {
    const many = (line: (n: number) => string) => Array.from({ length: 1_001 }, (_, n) => line(n)).join('\n');
    expect(await give('plan', `plugins:\n${many((n) => `  a${n}: on`)}`))
      .to.include('line 2: plugins.a0: there is no such plugin')
      .and.match(/\n991 more$/);
    expect(await give('plan', `tools:\n${many((n) => `  a${n}: deny`)}`)).to.include('at most 1000 tool policies');
  });

  it('lets no undo bring back what admitted a member whose data were deleted', async () => {
    const rule = {
      effect: 'allow',
      target: { kind: 'tool', name: 'sell' },
      subject: { kind: 'user', id: host.alice.id },
    };
    const apply = async (yaml: string) =>
      (await host.resolve(GuildFiles).plan(host.guild.id, yaml, actor())).apply(actor());
    await apply(`rules: [{ effect: allow, tool: sell, user: "${host.alice.id}" }]`);
    await apply('rules: []');
    const store = host.resolve(PersonalDataStore);
    expect(await store.export(host.alice.id)).to.deep.include({ files: { [host.guild.id]: [rule] } });
    await store.forget(host.alice.id);
    expect(await store.export(host.alice.id)).to.not.have.property('files');
    const undo = await host.resolve(GuildFiles).planUndo(host.guild.id);
    expect(undo?.differences).to.deep.equal([]);
  });

  it('shows each change as one line, whatever is in its value', async () => {
    await say(host.you, '!unset shop guild');
    const answer = await give('plan', 'settings: { shop: { greeting: "Hi\\n+ tools.sell: deny\\e[2J\\u202e" } }');
    expect(answer.split('\n')).to.have.length(2);
    expect(answer).to.not.include('\u001b').and.not.include('\u202e');
  });

  it('is for admins, and is applied to what was shown only', async () => {
    expect(await say(host.alice, '!server export')).to.include('you need to be at least an admin');
    await give('apply', 'prefixes: ["!", "$"]');
    await host
      .resolve(GuildFiles)
      .plan(host.guild.id, 'prefixes: ["!"]', actor())
      .then((plan) => plan.apply(actor()));
    expect(await press('Apply it')).to.include('Something has been changed here since then');
    expect(await say(host.you, '!prefix show')).to.equal('Commands start with `!` here, or with a mention of me.');
  });

  const actor = () => ({ userId: host.you.id, guildId: host.guild.id, channelId: host.general.id });

  it('says nothing to change of its own export, whatever is chosen', async () => {
    const files = host.resolve(GuildFiles);
    const roles = () => fc.subarray([fixers.id, '111111111111111111']);
    const target = fc.oneof(
      fc.record({ command: fc.constantFrom('help', 'party add') }),
      fc.record({ tool: fc.constantFrom('sell', 'gone') }),
      fc.record({ plugin: fc.constant('shop') }),
    );
    const whom = fc.oneof(
      fc.record({ role: fc.constantFrom(fixers.id, '111111111111111111') }),
      fc.record({ channel: fc.constant(host.general.id) }),
      fc.constant({ everyone: true }),
    );
    const rule = fc
      .tuple(fc.record({ effect: fc.constantFrom('allow', 'deny') }), target, whom)
      .map((parts) => Object.assign({}, ...parts));
    const settings = fc.record(
      {
        greeting: fc.string({ maxLength: 40 }),
        most: fc.integer({ min: 1, max: 20 }),
        closes: fc.nat(10_000_000),
        staff: roles(),
        counter: fc.constant(host.general.id),
      },
      { requiredKeys: [] },
    );
    const content = fc.record(
      {
        plugins: fc.record({ shop: fc.boolean() }, { requiredKeys: [] }),
        prefixes: fc.oneof(fc.constant('default'), fc.subarray(['!', '?', 'hey'], { minLength: 1 })),
        roles: fc.record({ mod: roles(), admin: roles() }),
        rules: fc.array(rule, { maxLength: 4 }),
        tools: fc.record({ sell: fc.constantFrom('allow', 'confirm', 'deny') }, { requiredKeys: [] }),
        settings: fc.record({ shop: settings }),
        channels: fc.record({
          shop: fc.record({ [host.general.id]: fc.record({ open: fc.boolean() }) }, { requiredKeys: [] }),
        }),
      },
      { requiredKeys: [] },
    );
    const start = await exported();
    await fc.assert(
      fc.asyncProperty(content, async (chosen) => {
        const before = await exported();
        // JSON is valid YAML.
        const plan = await files.plan(host.guild.id, JSON.stringify(chosen), actor());
        await plan.apply(actor());
        const after = await exported();
        expect((await files.plan(host.guild.id, after, actor())).differences).to.deep.equal([]);
        expect((await files.plan(host.guild.id, JSON.stringify(chosen), actor())).differences).to.deep.equal([]);
        // The earlier export restores the earlier state.
        await (await files.plan(host.guild.id, before, actor())).apply(actor());
        expect(await exported()).to.equal(before);
      }),
      { numRuns: 25 },
    );
    expect(await exported()).to.equal(start);
  });
});
