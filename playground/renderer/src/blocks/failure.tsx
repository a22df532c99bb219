/** What is said where data could not be read. */

/** Says that data is not there, and lets a person try again. */
export function Failure({ message, onRetry }: { message: string; onRetry: () => void }) {
  return (
    <div class="p-b-failure" role="alert">
      <p>The data couldn't be loaded.{message === "" ? "" : ` ${message}`}</p>
      <button type="button" class="p-b-button p-b-button-outline" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
