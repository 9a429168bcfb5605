/** Ten channels of two guilds, of which the first is busier. The number is the event's place in the run. */
export function placeOf(id: string): string {
  const channel = (numberOf(id) * 7) % 10;
  return `${channel < 7 ? 'a' : 'b'}/${channel}`;
}

export function numberOf(id: string): number {
  return Number(id.split('#')[1]);
}
