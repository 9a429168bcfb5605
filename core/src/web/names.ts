import type { Access, Actor, WebBlock, WebChoice, WebChoiceKind, WebNames } from '@cinnabar/sdk';
import type { Client, Guild } from 'discord.js';

/** Maximum number of ids of one view that are looked up at Discord; the others stay ids. */
const MOST_FETCHED = 25;
const MENTION = /<(@!?|@&|#)(\d{15,22})>/g;
const ID = /^\d{15,22}$/;

/** Users, channels and roles in a view. */
export interface ShownIds {
  readonly users: readonly string[];
  readonly channels: readonly string[];
  readonly roles: readonly string[];
}

interface Ids {
  readonly users: Set<string>;
  readonly channels: Set<string>;
  readonly roles: Set<string>;
}

export function idsIn(blocks: readonly WebBlock[]): ShownIds {
  const ids: Ids = { users: new Set(), channels: new Set(), roles: new Set() };
  collect(blocks, ids);
  return { users: [...ids.users], channels: [...ids.channels], roles: [...ids.roles] };
}

interface Looked {
  readonly access: Pick<Access, 'mayEnter'>;
  readonly client: Client;
}

/** Adds names to a view. */
export async function namesOf(ids: ShownIds, actor: Actor, { access, client }: Looked): Promise<WebNames> {
  const guild = actor.guildId === null ? undefined : client.guilds.cache.get(actor.guildId);
  const users: Record<string, string> = {};
  let fetched = 0;
  for (const id of ids.users) {
    const known = guild?.members.cache.get(id)?.displayName ?? client.users.cache.get(id)?.displayName;
    if (known !== undefined) users[id] = known;
    else if (fetched < MOST_FETCHED) {
      fetched += 1;
      const user = await client.users.fetch(id).catch(() => undefined);
      if (user !== undefined) users[id] = user.displayName;
    }
  }
  const channels: Record<string, string> = {};
  for (const id of ids.channels) {
    const channel = client.channels.cache.get(id);
    if (channel === undefined || channel.isDMBased()) continue;
    // Names of channels that the person cannot see are left out.
    if (await access.mayEnter(actor, { guildId: channel.guildId, channelId: id })) channels[id] = channel.name;
  }
  return { users, channels, roles: rolesIn(guild, ids.roles) };
}

function rolesIn(guild: Guild | undefined, ids: readonly string[]): WebNames['roles'] {
  const found = ids.flatMap((id) => guild?.roles.cache.get(id) ?? []);
  return Object.fromEntries(
    found.map(({ id, name, color, hexColor }) => [id, { name, color: color === 0 ? null : hexColor }]),
  );
}

/** Collects the ids in plain data: of values that declare their kind, and of mentions in texts. */
function collect(value: unknown, ids: Ids): void {
  if (typeof value === 'string') collectMentions(value, ids);
  else if (Array.isArray(value)) for (const item of value) collect(item, ids);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      const into = setFor(key, ids);
      if (into !== undefined && isId(part)) into.add(part);
      else collect(part, ids);
    }
    collectChosen(value, ids);
  }
}

function collectMentions(text: string, ids: Ids): void {
  for (const [, sign, id = ''] of text.matchAll(MENTION)) {
    if (sign === '#') ids.channels.add(id);
    else if (sign === '@&') ids.roles.add(id);
    else ids.users.add(id);
  }
}

function setFor(kind: unknown, ids: Ids): Set<string> | undefined {
  if (kind === 'user') return ids.users;
  if (kind === 'channel') return ids.channels;
  return kind === 'role' ? ids.roles : undefined;
}

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** Collects the ids in the value of a form's field. */
function collectChosen(field: object, ids: Ids): void {
  if (!('control' in field) || !('value' in field)) return;
  const { control } = field;
  if (typeof control !== 'object' || control === null || !('kind' in control)) return;
  const into = setFor(control.kind, ids);
  for (const id of [field.value].flat()) if (isId(id)) into?.add(id);
}

const MOST_CHOICES = 25;

/** Channels, roles or members of a guild whose names contain the typed text, among those that the person can see. */
export async function choicesFor(
  kind: WebChoiceKind,
  search: string,
  actor: Actor,
  { access, client }: Looked,
): Promise<readonly WebChoice[]> {
  const guild = actor.guildId === null ? undefined : client.guilds.cache.get(actor.guildId);
  if (guild === undefined || !(await access.mayEnter(actor, { guildId: guild.id }))) return [];
  const wanted = search.trim().toLowerCase().replace(/^[@#]/, '');
  const fits = (name: string) => name.toLowerCase().includes(wanted);
  if (kind === 'role') {
    const roles = [...guild.roles.cache.values()].filter(({ id, name }) => id !== guild.id && fits(name));
    return roles
      .sort((a, b) => b.position - a.position)
      .slice(0, MOST_CHOICES)
      .map(({ id, name }) => ({ id, name }));
  }
  if (kind === 'user') {
    if (wanted === '') return [...guild.members.cache.values()].slice(0, MOST_CHOICES).map(memberChoice);
    const found = await guild.members.search({ query: wanted, limit: MOST_CHOICES });
    return [...found.values()].map(memberChoice);
  }
  const choices: WebChoice[] = [];
  for (const channel of guild.channels.cache.values()) {
    if (choices.length === MOST_CHOICES) break;
    if (!fits(channel.name) || !(await access.mayEnter(actor, { guildId: guild.id, channelId: channel.id }))) continue;
    const { parent } = channel;
    choices.push({ id: channel.id, name: channel.name, ...(parent === null ? {} : { hint: parent.name }) });
  }
  return choices;
}

const memberChoice = ({
  id,
  displayName,
  user,
}: {
  readonly id: string;
  readonly displayName: string;
  readonly user: { readonly username: string };
}): WebChoice => ({
  id,
  name: displayName,
  hint: user.username,
});
