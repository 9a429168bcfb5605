import { UserError, z } from '@cinnabar/sdk';
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';

const BY_NAME: ReadonlyMap<string, bigint> = new Map(
  Object.entries(PermissionFlagsBits).map(([name, bit]) => [plain(name), bit]),
);

export const permissionsField = z.array(z.string().max(60)).max(60);

/** Permissions by name, in any of the usual spellings: `ManageMessages`, `MANAGE_MESSAGES`, "Manage Messages". @throws UserError */
export function readPermissions(names: readonly string[]): Readonly<PermissionsBitField> {
  const unknown = names.filter((name) => !BY_NAME.has(plain(name)));
  if (unknown.length > 0) {
    throw new UserError(`There is no permission called ${unknown.map((name) => JSON.stringify(name)).join(', ')}.`);
  }
  return new PermissionsBitField(names.map((name) => BY_NAME.get(plain(name)) ?? 0n)).freeze();
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
