/** What came as a list of numbers; what is none becomes `NaN`, for whoever checks the vector. */
export function toVector(values: readonly unknown[] | undefined): Float32Array {
  return Float32Array.from(values ?? [], (value) => (typeof value === 'number' ? value : Number.NaN));
}
