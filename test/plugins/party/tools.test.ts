import { readFile } from 'node:fs/promises';
import { PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openTable, useTable } from './table.js';

const text = { type: 'string' };
const SCHEMAS = {
  add_party_character: {
    properties: {
      name: { ...text, description: "The character's name" },
      role: { ...text, description: "The character's role (e.g., Solo, Netrunner, Fixer, Rockerboy, etc.)" },
      gear_preferences: {
        type: 'array',
        items: text,
        description:
          "Optional list of gear types the character prefers (e.g., 'Assault Rifles', 'Body Armor', 'Cyberware')",
      },
    },
    required: ['name', 'role'],
  },
  remove_party_character: {
    properties: { name: { ...text, description: 'The name of the character to remove' } },
    required: ['name'],
  },
  view_party_members: { properties: {}, required: [] },
  recommend_gear: {
    properties: {
      loot_description: {
        ...text,
        maxLength: 4_000,
        description:
          "Natural language description of the loot to distribute (e.g., 'Assault Rifle, Body Armor, Neural Processor' or 'We got 2 SMGs from the ganger')",
      },
      excluded_characters: {
        type: 'array',
        items: text,
        description: 'Optional list of character names to exclude from gear distribution',
        default: [],
      },
    },
    required: ['loot_description'],
  },
} as const;
const RISKS = {
  add_party_character: 'write',
  remove_party_character: 'destructive',
  view_party_members: 'read',
  recommend_gear: 'read',
};

describe('party tools', () => {
  const open = useTable();
  it('are the four of the design, with its schemas and descriptions', async () => {
    await using table = await open();
    const tools = table.host.resolve(Tools).list();
    expect(Object.fromEntries(tools.map(({ name, risk }) => [name, risk]))).to.deep.equal(RISKS);
    for (const { name, inputSchema } of tools) {
      const { properties, required = [], type } = inputSchema;
      expect({ name, type, properties, required }).to.deep.equal({
        name,
        type: 'object',
        ...Object.entries(SCHEMAS).find(([tool]) => tool === name)?.[1],
      });
    }
  });

  it('register no commands: the old ones do not exist', async () => {
    await using table = await open();
    const { plugins, alice, general, bot, settled } = table.host;
    expect(
      plugins
        .list()
        .find(({ id }) => id === 'party')
        ?.effects.join(),
    ).not.to.include('command');
    for (const old of ['!add_character V Solo', '!remove_character V', '!view_party', '!recommend_gear rifle']) {
      alice.say(general, old);
    }
    await settled();
    expect(general.messages.filter(({ author }) => author.id === bot.id)).to.deep.equal([]);
  });

  it('add, update, view and remove, with the design’s messages', async () => {
    await using table = await open();
    const gear_preferences = ['Assault Rifles', 'Body Armor'];
    expect(await table.call('add_party_character', { name: 'V', role: 'Solo', gear_preferences })).to.equal(
      '✓ V has been added to your party!',
    );
    await table.call('add_party_character', { name: 'Jackie', role: 'Solo' });
    expect(await table.call('add_party_character', { name: 'JACKIE', role: 'Fixer' })).to.equal(
      '✓ Jackie has been changed in your party.',
    );
    expect(await table.call('view_party_members')).to.equal(
      '👥 Your party (2)\n• **V** – Solo (Gear Preferences: Assault Rifles, Body Armor)\n• **Jackie** – Fixer (Gear Preferences: None)',
    );
    expect(await table.call('remove_party_character', { name: 'v' })).to.equal('✓ V has been removed from your party.');
    expect(await table.call('view_party_members')).to.equal(
      '👥 Your party (1)\n• **Jackie** – Fixer (Gear Preferences: None)',
    );
  });

  it('changing only a role keeps the gear and the name as it was written', async () => {
    await using table = await open();
    await table.call('add_party_character', { name: 'V', role: 'Solo', gear_preferences: ['Rifles'] });
    expect(await table.call('add_party_character', { name: 'v', role: 'Netrunner' })).to.equal(
      '✓ V has been changed in your party.',
    );
    expect(await table.call('view_party_members')).to.include('• **V** – Netrunner (Gear Preferences: Rifles)');
    await table.call('add_party_character', { name: 'V', role: 'Netrunner', gear_preferences: [] });
    expect(await table.call('view_party_members')).to.include('• **V** – Netrunner (Gear Preferences: None)');
  });

  it('answer a mistake with a sentence, and change nothing', async () => {
    await using table = await open();
    expect(await table.call('view_party_members')).to.match(/^Your party is empty\./);
    await table.call('add_party_character', { name: 'Jackie', role: 'Solo' });
    expect(await table.call('remove_party_character', { name: 'Jakie' })).to.equal(
      'There is nobody called Jakie in the party. Did you mean Jackie?',
    );
    expect(await table.call('add_party_character', { name: 'x'.repeat(101), role: 'Solo' })).to.include('at most 100');
    expect(await table.call('view_party_members')).to.include('(1)');
  });

  it('lose no character when many are added at once', async () => {
    await using table = await open();
    const names = Array.from({ length: 12 }, (_, index) => `N${index}`);
    await Promise.all(names.map((name) => table.call('add_party_character', { name, role: 'Solo' })));
    expect(await table.call('view_party_members')).to.include('Your party (12)');
  });
});

describe('the owner of a party', () => {
  const open = useTable();
  it('the member’s own, everywhere, unless the guild says otherwise', async () => {
    await using table = await open();
    const { alice, bob, bot } = table.host;
    await table.call('add_party_character', { name: 'V', role: 'Solo' }, { user: alice });
    expect(await table.call('view_party_members', {}, { user: bob })).to.match(/^Your party is empty/);
    const inPrivate = { user: alice, channel: alice.openDm(bot) };
    expect(await table.call('view_party_members', {}, inPrivate)).to.include('**V**');
  });

  it('the channel’s', async () => {
    await using table = await open();
    const { bob, guild } = table.host;
    await table.configure('owner', 'channel');
    expect(await table.call('add_party_character', { name: 'V', role: 'Solo' })).to.equal(
      "✓ V has been added to this channel's party!",
    );
    expect(await table.call('view_party_members', {}, { user: bob })).to.include('**V**');
    const channel = guild.createChannel({ name: 'other' });
    await table.host.settled();
    expect(await table.call('view_party_members', {}, { channel })).to.match(/^This channel's party is empty/);
    // A thread is part of its channel: a task in the thread uses the party of the channel in which it was started.
    const thread = table.host.alice.startThread(table.host.general, 'The heist');
    await table.host.settled();
    expect(await table.call('view_party_members', {}, { channel: thread })).to.include('**V**');
  });

  it('the guild’s; and in a direct message still the member’s', async () => {
    await using table = await open();
    const { alice, bob, guild, bot } = table.host;
    await table.configure('owner', 'guild');
    await table.call('add_party_character', { name: 'V', role: 'Solo' });
    const channel = guild.createChannel({ name: 'other' });
    await table.host.settled();
    expect(await table.call('view_party_members', {}, { user: bob, channel })).to.include("This server's party (1)");
    expect(await table.call('view_party_members', {}, { channel: alice.openDm(bot) })).to.match(/^Your party is empty/);
  });

  it('lets members of a shared party change and remove only what they have added, unless the guild allows it', async () => {
    await using table = await open();
    const { alice, bob, you } = table.host;
    await table.configure('owner', 'channel');
    await table.call('add_party_character', { name: 'V', role: 'Solo' }, { user: alice });
    const refusal = /^<@\d+> has added V to this channel's party: only they or a moderator can change that\.$/;
    expect(await table.call('remove_party_character', { name: 'V' }, { user: bob })).to.match(refusal);
    expect(await table.call('add_party_character', { name: 'v', role: 'Fixer' }, { user: bob })).to.match(refusal);
    expect(await table.call('add_party_character', { name: 'V', role: 'Nomad' }, { user: alice })).to.include(
      'changed',
    );
    expect(await table.call('add_party_character', { name: 'V', role: 'Solo' }, { user: you })).to.include('changed');
    await table.configure('sharedChanges', 'all');
    expect(await table.call('remove_party_character', { name: 'V' }, { user: bob })).to.include('removed');
  });

  it('forgets who has added a character with the data of that member, and keeps the character', async () => {
    await using table = await open();
    const { alice, bob } = table.host;
    await table.configure('owner', 'channel');
    await table.call('add_party_character', { name: 'V', role: 'Solo' }, { user: alice });
    const store = table.host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(alice.id))).to.include('"V"');
    await store.forget(alice.id);
    expect(await table.call('remove_party_character', { name: 'V' }, { user: bob })).to.include('removed');
  });

  it('is kept when the plugin is reloaded', async () => {
    await using table = await openTable();
    await table.call('add_party_character', { name: 'V', role: 'Solo' });
    await table.host.plugins.reload('party');
    expect(await table.call('view_party_members')).to.include('**V**');
  });
});

describe('the README of the party', () => {
  it('shows what the tools say', async () => {
    await using table = await openTable();
    const readme = await readFile(new URL('../../../../plugins/party/README.md', import.meta.url), 'utf8');
    expect(readme).to.include(await table.call('add_party_character', { name: 'V', role: 'Solo' }));
    for (const line of (await table.call('view_party_members')).split('\n')) expect(readme).to.include(line);
  });
});
