import { permissionName } from '@cinnabar/sdk';
import { PermissionFlagsBits, PermissionsBitField, type PermissionsString } from 'discord.js';

/** What anyone, the bot included, can do in a direct message, where Discord keeps no permissions. */
export const IN_DIRECT_MESSAGES = new PermissionsBitField([
  'ViewChannel',
  'SendMessages',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'UseExternalEmojis',
  'ReadMessageHistory',
]).freeze();

export const NO_PERMISSIONS = new PermissionsBitField().freeze();

const TIMED_OUT = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** A member in time-out can only look on, unless an administrator: https://discord.com/developers/docs/topics/permissions */
export function whileTimedOut(permissions: Readonly<PermissionsBitField>): Readonly<PermissionsBitField> {
  if (permissions.has(PermissionFlagsBits.Administrator)) return permissions;
  return new PermissionsBitField(permissions.bitfield & TIMED_OUT).freeze();
}

/** The wanted permissions that are not there. In a thread, sending needs `SendMessagesInThreads` instead. */
export function missingPermissions(
  held: Readonly<PermissionsBitField>,
  wanted: readonly PermissionsString[],
  inThread: boolean,
): readonly PermissionsString[] {
  const inPlace = wanted.map((name) => (inThread && name === 'SendMessages' ? 'SendMessagesInThreads' : name));
  return inPlace.filter((name) => !held.has(name));
}

/** `ManageMessages` as people know it: "Manage Messages". */
export function permissionNames(permissions: readonly PermissionsString[]): string {
  return permissions.map(permissionName).join(', ');
}
