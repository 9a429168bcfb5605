import { type AccessPolicy, type Decision, TIERS } from '@cinnabar/sdk';
import { expect } from 'chai';
import { PermissionFlagsBits, PermissionsBitField, type PermissionsString } from 'discord.js';
import fc from 'fast-check';
import { decisionOf, type Standing, wordsOfRefusal } from './harness.js';

const NAMES = new PermissionsBitField(PermissionsBitField.All).toArray();
const bits = (...names: readonly PermissionsString[]) => new PermissionsBitField([...names]).freeze();

const ordinary: Standing = {
  place: 'guild',
  isBotOwner: false,
  isGuildOwner: false,
  userId: '1',
  channelIds: ['2'],
  categoryId: undefined,
  guildId: '3',
  accessRules: { owner: [], guild: [] },
  guildPermissions: bits(),
  hasRole: () => false,
  adminRoles: ['admins'],
  modRoles: ['mods'],
  memberPermissions: bits('ViewChannel', 'SendMessages'),
  botPermissions: bits('ViewChannel', 'SendMessages'),
  inThread: false,
};

const denying = (decision: Decision) => decision.reasons.filter(({ allowed }) => !allowed).map(({ rule }) => rule);

const anyNames = fc.subarray(NAMES, { maxLength: 6 });
const anyStanding: fc.Arbitrary<Standing> = fc.record({
  place: fc.constantFrom('guild' as const, 'dm' as const),
  isBotOwner: fc.boolean(),
  isGuildOwner: fc.boolean(),
  userId: fc.constant('1'),
  channelIds: fc.constant(['2']),
  categoryId: fc.constant(undefined),
  guildId: fc.constant('3'),
  accessRules: fc.constant({ owner: [], guild: [] }),
  guildPermissions: anyNames.map((names) => bits(...names)),
  hasRole: fc.subarray(['admins', 'mods', 'others']).map((ids) => (id: string) => ids.includes(id)),
  adminRoles: fc.subarray(['admins']),
  modRoles: fc.subarray(['mods']),
  memberPermissions: anyNames.map((names) => bits(...names)),
  botPermissions: anyNames.map((names) => bits(...names)),
  inThread: fc.boolean(),
});
const anyPolicy: fc.Arbitrary<AccessPolicy> = fc.record(
  {
    tier: fc.constantFrom(...TIERS),
    member: anyNames,
    bot: anyNames,
    where: fc.constantFrom('guild' as const, 'dm' as const, 'anywhere' as const),
  },
  { requiredKeys: [] },
);

describe('judging a policy', () => {
  it('allows a request without requirements to everyone, with the reason', () => {
    const decision = decisionOf(ordinary, {});
    expect(decision.allowed).to.equal(true);
    expect(decision.reasons.map(({ text }) => text)).to.deep.equal([
      'the plugin "raid" is switched on here',
      'everyone may use this',
    ]);
  });

  const tiers: readonly [string, Partial<Standing>, readonly boolean[]][] = [
    ['an ordinary member', {}, [true, false, false, false, false]],
    ['who may manage messages', { guildPermissions: bits('ManageMessages') }, [true, true, false, false, false]],
    ['who may time members out', { guildPermissions: bits('ModerateMembers') }, [true, true, false, false, false]],
    ['with a moderator role', { hasRole: (id) => id === 'mods' }, [true, true, false, false, false]],
    ['who may manage the server', { guildPermissions: bits('ManageGuild') }, [true, true, true, false, false]],
    ['an administrator', { guildPermissions: bits('Administrator') }, [true, true, true, false, false]],
    ['with an admin role', { hasRole: (id) => id === 'admins' }, [true, true, true, false, false]],
    ["the server's owner", { isGuildOwner: true }, [true, true, true, true, false]],
    ["the bot's owner", { isBotOwner: true }, [true, true, true, true, true]],
    [
      'an owner of the server in a direct message',
      { place: 'dm', isGuildOwner: true },
      [true, false, false, false, false],
    ],
  ];
  for (const [who, standing, expected] of tiers) {
    it(`${who}: ${TIERS.filter((_, index) => expected[index]).join(', ')}`, () => {
      const allowed = TIERS.map((tier) => decisionOf({ ...ordinary, ...standing }, { tier }).allowed);
      expect(allowed).to.deep.equal(expected);
    });
  }

  it('gives every reason of a refusal at once, in plain words', () => {
    const decision = decisionOf(
      ordinary,
      { where: 'dm', tier: 'admin', member: ['ManageMessages'], bot: ['ManageMessages', 'SendMessages'] },
      false,
    );
    expect(denying(decision)).to.deep.equal([
      'place',
      'plugin-enabled',
      'tier',
      'member-permissions',
      'bot-permissions',
    ]);
    expect(wordsOfRefusal(decision)).to.equal(
      'this only works in a direct message; the plugin "raid" is switched off here; ' +
        'you need to be at least an admin here, and you are an ordinary member; ' +
        'you lack Manage Messages in this channel; I lack Manage Messages in this channel',
    );
  });

  it('asks in a thread for the permission that sending there needs', () => {
    const inThread = { ...ordinary, inThread: true };
    expect(decisionOf(inThread, { bot: ['SendMessages'] }).allowed).to.equal(false);
    const botPermissions = bits('SendMessagesInThreads');
    expect(decisionOf({ ...inThread, botPermissions }, { bot: ['SendMessages'] }).allowed).to.equal(true);
  });

  it('never removes access when a permission is added', () => {
    fc.assert(
      fc.property(anyStanding, anyPolicy, fc.constantFrom(...NAMES), (standing, policy, name) => {
        fc.pre(decisionOf(standing, policy).allowed);
        const more = (held: Standing['botPermissions']) => new PermissionsBitField(held).add(name).freeze();
        const { guildPermissions, memberPermissions, botPermissions } = standing;
        const richer = {
          ...standing,
          guildPermissions: more(guildPermissions),
          memberPermissions: more(memberPermissions),
          botPermissions: more(botPermissions),
        };
        expect(decisionOf(richer, policy).allowed).to.equal(true);
      }),
    );
  });

  it('never removes access with a higher tier, nor adds any when the policy asks for more', () => {
    fc.assert(
      fc.property(anyStanding, anyPolicy, fc.constantFrom(...TIERS), (standing, policy, tier) => {
        const allowed = decisionOf(standing, policy).allowed;
        if (allowed) expect(decisionOf({ ...standing, isBotOwner: true }, policy).allowed).to.equal(true);
        const stricter = TIERS.indexOf(tier) > TIERS.indexOf(policy.tier ?? 'everyone');
        if (!allowed && stricter) expect(decisionOf(standing, { ...policy, tier }).allowed).to.equal(false);
      }),
    );
  });

  it('lets no one but the Administrator flag stand for other permissions', () => {
    const administrator = new PermissionsBitField(PermissionFlagsBits.Administrator).freeze();
    expect(decisionOf({ ...ordinary, memberPermissions: administrator }, { member: ['BanMembers'] }).allowed).to.equal(
      true,
    );
    expect(decisionOf({ ...ordinary, isBotOwner: true }, { member: ['BanMembers'] }).allowed).to.equal(false);
  });
});
