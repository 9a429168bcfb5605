import type { APIApplicationCommand } from 'discord-api-types/v10';

/** An application command as Discord returns it. */
export type LocalCommand = APIApplicationCommand;
