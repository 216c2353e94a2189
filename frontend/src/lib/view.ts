/** What every view is given by the shell. */
export interface ViewProps {
  /** Brings up the question with this id. */
  openQuestion: (question: string) => void;
}
