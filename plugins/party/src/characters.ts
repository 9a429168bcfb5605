import {
  Access,
  type Actor,
  type Document,
  homeChannelOf,
  Llm,
  optional,
  type PluginContext,
  plainText,
  TIERS,
  t,
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';

const partySchema = z.object({
  members: z
    .array(
      z.object({
        name: z.string(),
        role: z.string(),
        gear: z.array(z.string()),
        /** The member who added the character; recorded for shared parties. */
        addedBy: z.string().optional(),
      }),
    )
    .default([]),
});
type Party = z.output<typeof partySchema>;
export type Character = Party['members'][number];

export const LIMITS = { members: 50, nameLength: 100, roleLength: 200, gear: 20, gearLength: 100 } as const;

export function findCharacter(members: readonly Character[], name: string): Character | undefined {
  const key = nameKey(name);
  return members.find((member) => nameKey(member.name) === key);
}

/** The description of a character. Without `gear_preferences`, the gear stays unchanged. */
interface Said {
  readonly name: string;
  readonly role: string;
  readonly gear?: readonly string[] | undefined;
}

/** The characters with a new one, or with a changed description of the one with that name. @throws UserError when a limit is exceeded */
export function withCharacter(members: readonly Character[], said: Said, addedBy?: string): Character[] {
  const present = findCharacter(members, said.name);
  const { role, gear = present?.gear ?? [] } = said;
  const character = {
    ...(addedBy === undefined ? {} : { addedBy }),
    ...present,
    // The name stays, because a member who writes "jackie" does not mean to rename "Jackie".
    name: present?.name ?? said.name,
    role,
    gear: [...gear],
  };
  checkSize(character);
  if (present !== undefined) return members.map((member) => (member === present ? character : member));
  if (members.length >= LIMITS.members) {
    throw new UserError(t('A party has at most {most} members. Remove someone first.', { most: LIMITS.members }));
  }
  return [...members, character];
}

/** The characters without one. @throws UserError without such a character; it names the nearest */
export function withoutCharacter(members: readonly Character[], name: string): { left: Character[]; gone: Character } {
  const gone = findCharacter(members, name);
  if (gone === undefined) throw new UserError(unknownNameText(name, members));
  return { left: members.filter((member) => member !== gone), gone };
}

function unknownNameText(name: string, members: readonly Character[]): string {
  if (members.length === 0) return t('There is nobody in the party, so there is nobody to remove.');
  const nearest = nearestName(
    name,
    members.map((member) => member.name),
  );
  return nearest === undefined
    ? t('There is nobody called {name} in the party.', { name: shown(name) })
    : t('There is nobody called {name} in the party. Did you mean {nearest}?', {
        name: shown(name),
        nearest: shown(nearest),
      });
}

function checkSize({ name, role, gear }: Character): void {
  if (nameKey(name) === '') throw new UserError(t('A character needs a name that can be seen.'));
  if (name.length > LIMITS.nameLength) {
    throw new UserError(
      t("A character's name has at most {most} characters; this one has {count}.", {
        most: LIMITS.nameLength,
        count: name.length,
      }),
    );
  }
  if (role.trim() === '') throw new UserError(t('A character needs a role.'));
  if (role.length > LIMITS.roleLength) {
    throw new UserError(
      t('A role has at most {most} characters; this one has {count}.', { most: LIMITS.roleLength, count: role.length }),
    );
  }
  if (gear.length > LIMITS.gear) {
    throw new UserError(
      t('A character has at most {most} gear preferences; these are {count}.', {
        most: LIMITS.gear,
        count: gear.length,
      }),
    );
  }
  if (gear.some((preference) => preference.length > LIMITS.gearLength)) {
    throw new UserError(t('A gear preference has at most {most} characters.', { most: LIMITS.gearLength }));
  }
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** A key of a name that is independent of case, width, encoding of accents, spacing and invisible characters. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim().toUpperCase().toLowerCase();
}

/** The closest of `names` to a mistyped one; `undefined` if none is close. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const key = nameKey(name);
  const allowed = Math.round(key.length * 0.4);
  const ranked = names
    .map((candidate) => ({ candidate, away: distance(key, nameKey(candidate)) }))
    .sort((a, b) => a.away - b.away);
  const best = ranked[0];
  return best !== undefined && best.away <= allowed ? best.candidate : undefined;
}

/** Typed text inside a message: no hidden characters, and no markup. */
export function shown(text: string): string {
  return plainText(visible(text));
}

/** "None" for an empty list, as on the confirmation card. */
function gearText(gear: readonly string[]): string {
  return gear.length === 0 ? t('None') : gear.map(shown).join(', ');
}

export function partyList(members: readonly Character[], owner: Owner): string {
  if (members.length === 0) {
    return t(
      "{owner, select, guild {This server's party} channel {This channel's party} other {Your party}} is empty. To add someone, say: Add V to my party, he's a Solo",
      { owner },
    );
  }
  const lines = members.map(({ name, role, gear }) =>
    t('• **{name}** – {role} (Gear Preferences: {gear})', {
      name: shown(name),
      role: shown(role),
      gear: gearText(gear),
    }),
  );
  const heading = t(
    "👥 {owner, select, guild {This server's party} channel {This channel's party} other {Your party}} ({count})",
    { owner, count: members.length },
  );
  return [heading, ...lines].join('\n');
}

export const settings = {
  guild: z.object({
    owner: z
      .enum(['user', 'channel', 'guild'])
      .default('user')
      .describe('Whose the party is: each member has one, or each channel, or the whole guild'),
    sharedChanges: z
      .enum(['own', 'all'])
      .default('own')
      .describe(
        'In a party of a channel or of the guild: whether members may change and remove only the characters that they have added, or all; moderators always may all',
      ),
  }),
};

/** Deletes a member's name only: the characters stay, because others play with them. */
const addedByMembers = {
  each: 'members',
  by: 'addedBy',
  forget(character: Character) {
    delete character.addedBy;
  },
} as const;

export const collections = {
  userParties: { scope: 'user', schema: partySchema, version: 1 },
  channelParties: { scope: 'channel', schema: partySchema, version: 1, personal: addedByMembers },
  guildParties: { scope: 'guild', schema: partySchema, version: 1, personal: addedByMembers },
} as const;

/** The party of an actor in a channel, and its name in sentences. */
interface OwnedParty {
  readonly document: Document<Party>;
  /** The owner of the party: a user, or a channel or guild whose members share it. */
  readonly owner: Owner;
  /** @throws UserError if another member has added the character, and the guild allows only that member to change it */
  assertMayChange(name: string): Promise<void>;
}
export type Owner = 'user' | 'channel' | 'guild';
export type PartyOf = (actor: Actor) => Promise<OwnedParty>;

export const inject = { access: Access, llm: optional(Llm) };

type PartyContext = PluginContext<typeof settings, typeof collections, typeof inject>;

/** Finds the party of an actor. In a direct message it is always the user's own. The threads of a channel share the channel's party. */
export function createPartyOf({ client, settings, collections: stored, services }: PartyContext): PartyOf {
  const placeOf = async ({ guildId, channelId, userId }: Actor, owner: Owner) => {
    if (guildId !== null && owner === 'guild') {
      return { document: stored.guildParties.of(guildId), owner };
    }
    if (guildId !== null && owner === 'channel') {
      const homeId = await homeChannelOf(client, channelId);
      return { document: stored.channelParties.of(homeId), owner };
    }
    return { document: stored.userParties.of(userId), owner: 'user' as const };
  };
  return async (actor) => {
    const rules = actor.guildId === null ? undefined : await settings.guild(actor.guildId).get();
    const place = await placeOf(actor, rules?.owner ?? 'user');
    return {
      ...place,
      async assertMayChange(name) {
        if (place.owner === 'user' || rules?.sharedChanges === 'all') return;
        const present = findCharacter((await place.document.get()).members, name);
        const addedBy = present?.addedBy;
        if (present === undefined || addedBy === undefined || addedBy === actor.userId) return;
        if (TIERS.indexOf(await services.access.tierOf(actor)) >= TIERS.indexOf('mod')) return;
        throw new UserError(
          t(
            "<@{addedBy}> has added {name} to {owner, select, guild {this server's party} channel {this channel's party} other {your party}}: only they or a moderator can change that.",
            { addedBy, name: shown(present.name), owner: place.owner },
          ),
        );
      },
    };
  };
}
