// Records of 4 KiB, each with a commit sector: ten run DISK [careless], ten verify DISK MARKS. Compile: go build ten.go
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func run(disk string, careless bool) {
	drive, err := os.OpenFile(disk, os.O_RDWR, 0)
	must(err)
	write := func(data []byte, at int) {
		_, err := drive.WriteAt(data, int64(at))
		must(err)
	}
	for number := 1; number <= 8; number++ {
		write(bytes.Repeat([]byte{byte(number)}, 4096), 65536+number*4096)
		if !careless {
			must(drive.Sync())
		}
		write(bytes.Repeat([]byte{byte(number)}, 512), number*512)
		must(drive.Sync())
		fmt.Println(number)
	}
}

func verify(disk, marks string) {
	drive := make([]byte, 131072) // its beginning alone: the drive may be large
	file, err := os.Open(disk)
	must(err)
	_, err = file.ReadAt(drive, 0)
	must(err)
	acked, err := os.ReadFile(marks)
	must(err)
	for number := 1; number <= 8; number++ {
		committed := drive[number*512] == byte(number)
		at := 65536 + number*4096
		whole := bytes.Equal(drive[at:at+4096], bytes.Repeat([]byte{byte(number)}, 4096))
		if committed && !whole || !committed && strings.Contains("\n"+string(acked), fmt.Sprintf("\n%d\n", number)) {
			log.Fatalf("record %d is missing or not whole", number)
		}
	}
}

func main() {
	if os.Args[1] == "run" {
		run(os.Args[2], len(os.Args) > 3)
	} else {
		verify(os.Args[2], os.Args[3])
	}
}
